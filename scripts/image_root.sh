#!/usr/bin/env bash
# The file system of an image that has one program, the static one that it gives to pods, and nothing that
# they do not need.
#
#   scripts/image_root.sh PROGRAM IN_PODS DIRECTORY
#
# The program's shared libraries and loader lie where they lay; certificates of public authorities are
# there for servers that have one of theirs; /tmp is for anybody.
set -euo pipefail

program=$1 in_pods=$2 target=$3

mkdir -p "$target"/{usr/bin,usr/local/bin,opt/muster,etc/ssl/certs,tmp}
chmod 1777 "$target/tmp"
install -m 0755 "$program" "$target/usr/bin/muster"
[[ -z ${STRIP:-} ]] || "$STRIP" "$target/usr/bin/muster"
[[ $(ldd "$in_pods") == *"statically linked"* ]] ||
    { echo "image_root.sh: $in_pods is not static: build it without sanitizers" >&2; exit 1; }
# What pods with agents get, for pods that mount this image; the program is there once.
"$in_pods" copy "$target/opt/muster"
ln -s ../../../opt/muster/muster "$target/usr/local/bin/muster-in-pods"

# "libm.so.6 => /lib/…/libm.so.6 (0x…)", and the loader without an arrow.
libraries=$(ldd "$program" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }')
[[ -n $libraries ]] || { echo "image_root.sh: ldd names no library of $program" >&2; exit 1; }
for library in $libraries; do
    [[ $library == /* ]] || { echo "image_root.sh: a library of $program is not found" >&2; exit 1; }
    cp --parents --dereference "$library" "$target"
done

if [[ -r /etc/ssl/certs/ca-certificates.crt ]]; then
    cp --dereference /etc/ssl/certs/ca-certificates.crt "$target/etc/ssl/certs"
fi
echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$target/etc/passwd"
echo 'nonroot:x:65532:' >"$target/etc/group"
echo 'hosts: files dns' >"$target/etc/nsswitch.conf"
