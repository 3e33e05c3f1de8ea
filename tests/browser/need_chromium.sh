#!/bin/sh
# The browser tests drive a real Chromium. Install Debian's where it is missing and we may, else say what is missing.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing chromium for the browser tests …"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; } >/dev/null && exit 0
fi
echo "The browser tests need Chromium, which is not on the PATH; they will fail." >&2
echo "On Debian: sudo apt-get install chromium" >&2
exit 0
