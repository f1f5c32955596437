package io.troupe.launch.remote;

import static io.troupe.core.Require.require;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A host of a cluster, as a line of the hosts file names it: {@code [USER@]ADDRESS [PORT]}.
 *
 * @param login address for ssh, with the user where one is given
 * @param address by which the other hosts reach it
 * @param sshPort port of the host's ssh server
 */
public record RemoteHost(String login, String address, int sshPort) {
  private static final int SSH = 22;

  public RemoteHost {
    require(
        !login.startsWith("-") && login.chars().allMatch(RemoteHost::plain),
        "a host is named [USER@]ADDRESS with letters, digits and . - _ : @, not '%s'",
        login);
    require(sshPort >= 1 && sshPort <= 65535, "a port lies in 1 to 65535, not %d", sshPort);
  }

  private static boolean plain(int c) {
    return c < 128 && (Character.isLetterOrDigit(c) || ".-_:@".indexOf(c) >= 0);
  }

  /** Reads a line. */
  static RemoteHost parse(String line) {
    List<String> words = List.of(line.strip().split("\\s+", -1));
    require(words.size() <= 2, "a line is [USER@]ADDRESS [PORT], not '%s'", line);
    String login = words.getFirst();
    String port = words.size() == 2 ? words.get(1) : Integer.toString(SSH);
    require(
        port.length() <= 5 && port.chars().allMatch(Character::isDigit), "'%s' is no port", port);
    return new RemoteHost(login, login.substring(login.indexOf('@') + 1), Integer.parseInt(port));
  }

  /**
   * Reads a hosts file: one host a line, the first is the coordinator of the run; # begins a
   * comment.
   *
   * @throws IOException if it cannot be read, or a line is no host; names the line
   */
  public static List<RemoteHost> read(Path file) throws IOException {
    List<RemoteHost> hosts = new ArrayList<>();
    int number = 0;
    for (String line : Files.readAllLines(file)) {
      number++;
      String host = line.replaceFirst("#.*", "").strip();
      if (!host.isEmpty()) {
        try {
          hosts.add(parse(host));
        } catch (IllegalArgumentException wrong) {
          throw new IOException("%s:%d: %s".formatted(file, number, wrong.getMessage()), wrong);
        }
      }
    }
    if (hosts.isEmpty()) {
      throw new IOException("%s names no host; write one [USER@]ADDRESS a line".formatted(file));
    }
    if (hosts.stream().map(RemoteHost::address).distinct().count() < hosts.size()) {
      throw new IOException(
          String.format(Locale.ROOT, "%s names a host twice; a host has one agent", file));
    }
    return hosts;
  }
}
