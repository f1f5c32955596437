#!/usr/bin/env bash
# Starts a run on many hosts: deploy/launch.sh conf/16-gpu.yaml --hosts hosts.txt
# Also: deploy/launch.sh status|stop|logs|restart-node|resume … --hosts hosts.txt. All of it is `troupe launch`.
set -eu
home=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
case ${1:-} in
  up | resume | stop | status | logs | restart-node | bundle | -* | '') exec "$home/troupe" launch "$@" ;;
  *) exec "$home/troupe" launch up "$@" ;;
esac
