#!/bin/bash
# Makes the disk image that is opened on a Mac to drag Subflow into Applications.
#
# usage: dmg.sh SUBFLOW.APP IMAGE.DMG VERSION
#
# Signed ad hoc, which Apple's processors ask of any program. That says nothing of who made it, so macOS wants a
# Control-click and "Open" the first time; to do away with that takes a certificate and notarization by Apple.
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

# LZMA, which macOS reads since 10.15; replaced as a whole, so that no half-made image is left behind.
hdiutil create -quiet -volname "Subflow $version" -srcfolder "$folder" -fs HFS+ -format ULMO -ov "$folder.dmg"
hdiutil verify -quiet "$folder.dmg"
mv "$folder.dmg" "$image"
