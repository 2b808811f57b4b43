#!/usr/bin/env bash
# What the browser tests need: Chromium (Debian's, unless CHROMIUM names another), Node.js, and packages from npm.
# With the argument "tools", all but Chromium: enough to format and check the scripts.
set -euo pipefail
cd "$(dirname "$0")"

if [ "${1:-}" != tools ] && ! command -v "${CHROMIUM:-chromium}" > /dev/null; then
  if [ -z "${CHROMIUM:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing chromium."
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null
  else
    echo "The browser tests need Chromium: apt-get install chromium, or CHROMIUM=/path/to/it make test-browser" >&2
    exit 1
  fi
fi
if ! command -v node > /dev/null || ! command -v npm > /dev/null; then
  echo "Browser tests and JavaScript linters need Node.js 20.19 or later with npm: apt-get install nodejs npm" >&2
  exit 1
fi
if ! cmp -s package.json node_modules/.installed; then
  npm install --no-package-lock --no-audit --no-fund --loglevel=error
  cp package.json node_modules/.installed
fi
