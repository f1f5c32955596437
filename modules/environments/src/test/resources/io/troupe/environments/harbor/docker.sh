#!/bin/bash
# In docker's place: records its arguments, and runs commands in folders that bubblewrap makes the root.
state=$(dirname "$0")
{ printf '%s' "$1"; for word in "${@:2}"; do printf ' %q' "$word"; done; echo; } >>"$state/log"
[ -e "$state/away" ] && { echo "Cannot connect to the Docker daemon" >&2; exit 1; }
command=$1
shift
case $command in
ps) cat "$state/ps" 2>/dev/null || true ;;
images) grep -qx -- "$2" "$state/images" && echo 0123 || true ;;
build)
  [ -e "$state/broken" ] && { echo "step 2: no gcc"; exit 2; }
  echo "$2" >>"$state/images" ;;
run)
  mkdir -p "$state/root/$3"/{usr,proc,dev,tmp}
  for link in bin lib lib64; do ln -s "usr/$link" "$state/root/$3/$link"; done
  echo $$ >"$state/pid-$3"
  exec cat ;;
exec)
  words=(--die-with-parent --unshare-pid)
  while [ "${1#--}" != "$1" ]; do
    case $1 in
    --interactive) shift ;;
    --workdir) words+=(--chdir "$2"); shift 2 ;;
    --env) words+=(--setenv "${2%%=*}" "${2#*=}"); shift 2 ;;
    esac
  done
  root=$state/root/$1
  shift
  exec bwrap --bind "$root" / --ro-bind /usr /usr --proc /proc --dev /dev "${words[@]}" "$@" ;;
cp)
  if [ "$1" = - ]; then
    tar -x -C "$state/root/${2%%:*}"
  else
    path=${1#*:}
    tar -c -C "$state/root/${1%%:*}$(dirname "$path")" "$(basename "$path")"
  fi ;;
diff)
  cat "$state/deleted" 2>/dev/null
  cd "$state/root/$1" && find . -mindepth 1 | sed 's/^./A /' ;;
top) printf 'PID\n1\n'; cat "$state/outlived" 2>/dev/null || true ;;
inspect) kill -0 "$(cat "$state/pid-$3")" 2>/dev/null && echo true || echo false ;;
kill) kill -9 "$(cat "$state/pid-$1")" ;;
rm) kill -9 "$(cat "$state/pid-$2")" 2>/dev/null; rm -rf "${state:?}/root/$2" ;;
esac
