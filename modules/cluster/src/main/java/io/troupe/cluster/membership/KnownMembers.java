package io.troupe.cluster.membership;

import static java.util.Objects.requireNonNull;

import io.troupe.base.files.AtomicFile;
import io.troupe.base.files.PrivateFiles;
import io.troupe.base.net.HostPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The coordinators, standbys and nodes that a node has met in its cluster. A file keeps their
 * addresses, so that a node that was cut off or restarted can join again even if its configured
 * seeds are gone.
 */
public final class KnownMembers {
  private static final int MAX_MEMBERS = 32;

  private final Path file;
  private final List<HostPort> members;

  private KnownMembers(Path file, List<HostPort> members) {
    this.file = file;
    this.members = members;
  }

  /**
   * The members in a file; none if the file does not exist yet.
   *
   * @throws IOException if the file cannot be read; a line that is no address is ignored
   */
  public static KnownMembers in(Path file) throws IOException {
    List<HostPort> members = new ArrayList<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        HostPort.read(line.strip()).ifPresent(members::add);
      }
    }
    return new KnownMembers(file, members);
  }

  /** Returns all members, the most recent first. */
  public synchronized List<HostPort> all() {
    return List.copyOf(members.reversed());
  }

  synchronized void add(HostPort member) throws IOException {
    members.remove(member);
    members.add(member);
    while (members.size() > MAX_MEMBERS) {
      members.removeFirst();
    }
    write();
  }

  /** Forgets a member that has left in order. */
  synchronized void remove(HostPort member) throws IOException {
    if (members.remove(member)) {
      write();
    }
  }

  private void write() throws IOException {
    PrivateFiles.folders(requireNonNull(file.toAbsolutePath().getParent()));
    AtomicFile.replace(file, members.stream().map(one -> one + "\n").collect(Collectors.joining()));
  }
}
