#!/bin/bash
# Makes the disk image from which a user of macOS drags Subflow into Applications.
#
# usage: dmg.sh SUBFLOW.APP IMAGE.DMG VERSION
#
# Apple's processors require a signature; this one is ad hoc and names no author. Therefore the first start needs a
# Control-click and "Open"; only a certificate and notarization by Apple would avoid that.
set -euo pipefail

if [ $# -ne 3 ]; then
    echo "usage: $0 SUBFLOW.APP IMAGE.DMG VERSION" >&2
    exit 2
fi
app=$1 image=$2 version=$3

if [ ! -d "$app/Contents/MacOS" ]; then
    echo "$app is no application: a folder with Contents/MacOS is" >&2
    exit 1
fi
for tool in codesign ditto hdiutil; do
    if ! command -v "$tool" >/dev/null; then
        echo "$tool is not there: disk images are made on macOS" >&2
        exit 1
    fi
done

codesign --force --deep --sign - "$app"
codesign --verify --deep --strict "$app"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ditto "$app" "$folder/Subflow.app"
ln -s /Applications "$folder/Applications"

# LZMA, readable since macOS 10.15. The image is moved into place when complete, so that no partial image remains.
hdiutil create -quiet -volname "Subflow $version" -srcfolder "$folder" -fs HFS+ -format ULMO -ov "$folder.dmg"
hdiutil verify -quiet "$folder.dmg"
mv "$folder.dmg" "$image"
