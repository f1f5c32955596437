package io.troupe.launch;

import io.troupe.launch.remote.RemoteHost;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A real ssh server on loopback addresses, which are the hosts; with keys of its own. */
public final class SshServer implements AutoCloseable {
  private static final Path PROGRAM = Path.of("/usr/sbin/sshd");

  private final Process process;
  private final Path folder;
  private final int port;

  private SshServer(Process process, Path folder, int port) {
    this.process = process;
    this.folder = folder;
    this.port = port;
  }

  /** Whether this host has an ssh server. */
  public static boolean installed() {
    return Files.isExecutable(PROGRAM) && Files.isExecutable(Path.of("/usr/bin/ssh"));
  }

  /** Starts one and waits until it answers. */
  public static SshServer start(Path folder, List<String> addresses) throws Exception {
    return start(folder, addresses, "");
  }

  /**
   * Starts one whose hosts have a disk each: what is {@code there} to those who come by ssh is a
   * folder of its own for each address, {@code disks/ADDRESS}. Needs root, for the mounts.
   */
  public static SshServer startWithDisks(
      Path folder, List<String> addresses, Path disks, Path there) throws Exception {
    Files.createDirectories(there);
    StringBuilder matches = new StringBuilder();
    for (String address : addresses) {
      Path disk = Files.createDirectories(disks.resolve(address));
      matches.append(
          """
          Match LocalAddress %s
            ForceCommand exec unshare -m -- sh -c 'mount --bind %s %s && exec sh -c "$SSH_ORIGINAL_COMMAND"'
          """
              .formatted(address, disk, there));
    }
    return start(folder, addresses, matches.toString());
  }

  private static SshServer start(Path folder, List<String> addresses, String matches)
      throws Exception {
    key(folder.resolve("host"));
    key(folder.resolve("user"));
    key(folder.resolve("stranger"));
    Files.copy(folder.resolve("user.pub"), folder.resolve("authorized"));
    Optional<SshServer> server = Optional.empty();
    while (server.isEmpty()) { // until nobody takes the port before it does
      server = listening(folder, addresses, matches, freePort());
    }
    return server.get();
  }

  private static Optional<SshServer> listening(
      Path folder, List<String> addresses, String matches, int port) throws Exception {
    StringBuilder config = new StringBuilder();
    addresses.forEach(address -> config.append("ListenAddress %s:%d%n".formatted(address, port)));
    config.append(
        """
        HostKey %1$s/host
        AuthorizedKeysFile %1$s/authorized
        PidFile none
        StrictModes no
        UsePAM no
        PasswordAuthentication no
        KbdInteractiveAuthentication no
        PermitRootLogin yes
        """
            .formatted(folder));
    config.append(matches);
    Path file = Files.writeString(folder.resolve("sshd_config"), config);
    Files.createDirectories(Path.of("/run/sshd"));
    Process process =
        new ProcessBuilder(PROGRAM.toString(), "-D", "-e", "-f", file.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("sshd.log").toFile())
            .start();
    boolean lives = true;
    while (true) {
      String log = Files.readString(folder.resolve("sshd.log"));
      if (log.contains("Address already in use")) {
        process.destroy();
        process.waitFor();
        return Optional.empty();
      }
      if (addresses.stream().allMatch(one -> log.contains("listening on " + one + " port"))) {
        return Optional.of(new SshServer(process, folder, port));
      }
      if (!lives) {
        throw new IOException("sshd ended: " + log);
      }
      lives = !process.waitFor(20, TimeUnit.MILLISECONDS);
    }
  }

  private static void key(Path file) throws Exception {
    int code =
        new ProcessBuilder("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file.toString())
            .start()
            .waitFor();
    if (code != 0) {
      throw new IOException("ssh-keygen failed");
    }
  }

  /** A port that nobody listens on. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** One of the hosts. */
  public RemoteHost host(String address) {
    return new RemoteHost(System.getProperty("user.name") + "@" + address, address, port);
  }

  /** Options of a client that has this key. */
  public List<String> options(String key) {
    return List.of(
        "-oIdentityFile=" + folder.resolve(key),
        "-oIdentitiesOnly=yes",
        "-oStrictHostKeyChecking=no",
        "-oUserKnownHostsFile=" + folder.resolve("known"),
        "-oLogLevel=ERROR");
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
  }
}
