package io.troupe.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A program in ssh's place: each host is a folder, {@code LOGIN}, which is the home of the user
 * there. A host refuses as often as it has files {@code refuse.*}; its cloud-init says what the
 * files {@code setup.*} hold, one after the other, and then that it is done.
 */
public final class PlayedSsh {
  private static final String SSH =
      """
      #!/bin/sh
      [ "$1" = -O ] && exit 0
      while [ "$1" != -- ]; do shift; done
      host=$(dirname "$0")/$2
      echo "$2" >>"$(dirname "$0")/calls"
      for one in "$host"/refuse.*; do
        [ -e "$one" ] && { rm "$one"; echo "connect: Connection refused" >&2; exit 255; }
      done
      [ -d "$host" ] || { echo "connect: Connection timed out" >&2; exit 255; }
      on_host() { env -i HOME="$host" PATH="$host/bin:/usr/bin:/bin" sh "$@"; }
      [ "$3" = "exec sh -s" ] || { on_host -c "$3"; exit; }
      sed "s#/usr/lib/jvm#$host/jvm#; s#/var/log#$host#" | on_host -s
      """;

  private static final String CLOUD_INIT =
      """
      #!/bin/sh
      for one in "$HOME"/setup.*; do
        [ -e "$one" ] && { cat "$one"; rm "$one"; exit; }
      done
      echo "status: done"
      """;

  private final Path folder;

  /** Plays hosts that a folder holds. */
  public PlayedSsh(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
    program(folder.resolve("ssh"), SSH);
  }

  /** The program. */
  public String program() {
    return folder.resolve("ssh").toString();
  }

  /** A host that answers. */
  public Path host(String login) throws IOException {
    Path host = folder.resolve(login);
    program(host.resolve("bin/cloud-init"), CLOUD_INIT);
    return host;
  }

  /** A folder that looks like a JDK. */
  public static Path jdk(Path folder, String processor) throws IOException {
    program(folder.resolve("bin/java"), "#!/bin/sh\n");
    Files.writeString(
        folder.resolve("release"),
        "JAVA_VERSION=\"25.0.3\"\nOS_ARCH=\"%s\"\n".formatted(processor));
    return folder;
  }

  /** A folder that looks like a build. */
  public static Path build(Path folder) throws IOException {
    program(folder.resolve("bin/troupe"), "#!/bin/sh\n");
    Files.writeString(Files.createDirectories(folder.resolve("lib")).resolve("order"), "");
    return folder;
  }

  private static void program(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
