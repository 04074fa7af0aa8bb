#!/bin/sh
# Runs `make demo` and `make test` of a fresh clone of this commit in Debian 13,
# in a folder that debootstrap makes. Called by the Makefile.
#
#   scripts/test-debian13.sh            both
#   scripts/test-debian13.sh demo deb   these targets, one after the other
#
# Debian's packages stay in the folder for the next time; the clone does not. The
# folder is ${OPTSLEUTH_DEBIAN13:-~/.cache/optsleuth-debian13}, about 5 GB. Mounts
# and processes live in namespaces of their own, which end with this script
# however it ends, so that removing the folder can never reach out of it.
set -eu
cd "$(dirname "$0")/.."
root=${OPTSLEUTH_DEBIAN13:-${XDG_CACHE_HOME:-$HOME/.cache}/optsleuth-debian13}
# Where this machine's own apt gets Debian from; elsewhere, DEBIAN_MIRROR says it.
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null | sed -n 's,/debian/*$,,p' | head -n 1)}

if [ "$(id -u)" -ne 0 ]; then
    echo "error: only root can make and enter a Debian of its own" >&2
    echo "help: sudo make test-debian13" >&2
    exit 1
fi
if ! command -v debootstrap >/dev/null; then
    echo "error: debootstrap is not installed" >&2
    echo "help: apt-get install -y debootstrap" >&2
    exit 1
fi

if [ -z "$mirror" ]; then
    echo "error: apt has no Debian in its sources here" >&2
    echo "help: set DEBIAN_MIRROR to a mirror's address, without /debian" >&2
    exit 1
fi

# The mark is made last, so that a folder without it is begun anew.
if ! [ -e "$root/.complete" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase trixie "$root" "$mirror/debian"
    cat >"$root/etc/apt/sources.list" <<SOURCES
deb $mirror/debian trixie main
deb $mirror/debian trixie-updates main
deb $mirror/debian-security trixie-security main
SOURCES
    touch "$root/.complete"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Certificates as this machine has them, for cargo: they may include a proxy's.
mkdir -p "$root/etc/ssl"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/host-certificates.crt"
rm -rf "$root/srv/optsleuth"
git clone --quiet --no-hardlinks . "$root/srv/optsleuth"

cat >"$root/srv/inside.sh" <<'INSIDE'
set -eu
export DEBIAN_FRONTEND=noninteractive
# What a person has who has cloned a repository and is about to type make.
apt-get update -q
apt-get install -y -q --no-install-recommends make git ca-certificates
cd /srv/optsleuth
for target in "$@"; do
    begin=$(date +%s)
    make "$target"
    echo "Debian $(cat /etc/debian_version): make $target passed in $(($(date +%s) - begin)) s"
done
INSIDE

[ $# -gt 0 ] || set -- demo test
exec unshare --mount --propagation private --pid --fork --kill-child sh -euc '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount -t sysfs sysfs "$root/sys"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        SSL_CERT_FILE=/etc/ssl/host-certificates.crt \
        CARGO_HTTP_CAINFO=/etc/ssl/host-certificates.crt \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh /srv/inside.sh "$@"
' sh "$root" "$@"
