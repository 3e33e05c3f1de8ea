#!/bin/sh
# One test reads the same transcripts with ccusage, and compares. Bring it into the environment where npm is there and
# can; else that test is skipped, and says so.
home=${1:-.venv}
[ -x "$home/node_modules/.bin/ccusage" ] && exit 0
command -v npm >/dev/null 2>&1 || exit 0
npm install --prefix "$home" --no-audit --no-fund --loglevel=error ccusage@18.0.11 >/dev/null 2>&1
exit 0
