package io.troupe.launch.remote;

import static io.troupe.core.Require.require;

/**
 * The folder on the hosts in which a launch keeps everything, as shell scripts name and guard it.
 *
 * <p>A launch writes, deletes and signals only by what lies in this folder. So no other user may
 * change the folder: it belongs to the user who is logged in, no other user may write to it, and it
 * holds a marker that a launch made when the folder was new or empty. A folder with files and
 * without the marker stays as it is.
 *
 * @param pattern absolute, or below the home folder of the user on the host ({@code ~/}); {@code
 *     {host}} stands for the address of the host, which keeps hosts apart that share their home
 *     folders
 */
public record RemoteFolder(String pattern) {
  /** The default folder of a launch. */
  public static final String DEFAULT = "~/.troupe/launch/{host}";

  private static final String HOST = "{host}";
  private static final String MARKER = ".troupe-launch";

  /**
   * Lines of a script that define {@code is_alive NAME}: whether the process of {@code NAME.pid}
   * lives, by its number and its start time, so that a number that the system gave to another
   * process does not count. It sets {@code pid}, to nothing where there is no such file.
   */
  static final String IS_ALIVE =
      """
      is_alive() {
        pid= start=
        [ -r "$1.pid" ] && read -r pid start <"$1.pid" || return 1
        [ -n "$start" ] && [ "$(awk '{print $22}' "/proc/$pid/stat" 2>/dev/null)" = "$start" ]
      }
      """;

  public RemoteFolder {
    require(
        pattern.replace(HOST, "h").matches("~?(/[A-Za-z0-9._-]+)+")
            && !(pattern + "/").contains("/../"),
        "the folder on the hosts is absolute or begins with ~/, and is of letters, digits, . _ - /"
            + " and %s, without .., not '%s'",
        HOST,
        pattern);
  }

  /** Returns the folder's path on a host, for messages. */
  public String on(RemoteHost host) {
    return pattern.replace(HOST, host.address().replaceAll("[^A-Za-z0-9._-]", "_"));
  }

  /** Returns the folder's path as a word of a shell on the host. */
  String shellWord(RemoteHost host) {
    String path = on(host);
    return path.startsWith("~/") ? "\"$HOME\"/'" + path.substring(2) + "'" : "'" + path + "'";
  }

  /** Lines of a script that print what speaks against the folder, if anything does. */
  public String objection(RemoteHost host) {
    return """
    umask 077
    objection() {
      [ -d %1$s ] || return 0
      cd %1$s 2>/dev/null && [ -O . ] || { echo "%2$s belongs to somebody else"; return 0; }
      case $(ls -ld .) in
        ?????w* | ????????w*) echo "others may write to %2$s (chmod go-w it if what it holds is yours)"; return 0 ;;
      esac
      [ -O %3$s ] || [ -z "$(ls -A)" ] || echo "%2$s holds files that no launch put there"
    }
    """
        .formatted(shellWord(host), on(host), MARKER);
  }

  /** Lines of a script that continue in the folder, made if need be, or end with what is wrong. */
  public String make(RemoteHost host) {
    return objection(host)
        + """
        why=$(objection)
        [ -z "$why" ] || { echo "$why; give an empty folder or a new one by --remote" >&2; exit 1; }
        mkdir -p %1$s && cd %1$s && chmod 700 . && : >>%2$s || exit 1
        """
            .formatted(shellWord(host), MARKER);
  }

  /**
   * Lines of a script that continue in the folder, or end with what is wrong.
   *
   * @param absent command of the script where there is no folder
   */
  String enter(RemoteHost host, String absent) {
    return IS_ALIVE
        + """
        umask 077
        cd %1$s 2>/dev/null || { %3$s; }
        [ -O . ] && [ -O %2$s ] || { echo "%4$s is no folder that a launch of this user made" >&2; exit 1; }
        """
            .formatted(shellWord(host), MARKER, absent, on(host));
  }
}
