package io.troupe.base.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The children that agents of a node started, in a file, so that the next agent knows those that
 * outlived their own. It is the only proof that a process is ours; a child is entered before it can
 * touch an accelerator.
 */
public final class ChildLedger {
  private static final String CHILD = "CHILD";
  private static final long LOOK_MILLIS = 10;

  private final Path file;
  private final Set<ProcessIdentity> children = new HashSet<>();
  private final Set<ProcessIdentity> orphans;

  private ChildLedger(Path file, Set<ProcessIdentity> orphans) {
    this.file = file;
    this.orphans = new HashSet<>(orphans);
  }

  /** Opens a node's ledger: what a former agent left in it, and is still there, are orphans. */
  public static ChildLedger open(Path file) throws IOException {
    Set<ProcessIdentity> left = new HashSet<>();
    ProcessFile.read(file).forEach(entry -> left.add(entry.process()));
    left.removeIf(identity -> identity.find().isEmpty());
    ChildLedger ledger = new ChildLedger(file, left);
    ledger.write();
    return ledger;
  }

  /** Enters a child. */
  public synchronized void started(ProcessHandle child) throws IOException {
    Optional<ProcessIdentity> identity = ProcessIdentity.of(child);
    if (identity.isPresent()) {
      children.add(identity.get());
      write();
    }
  }

  /** Strikes out a child that has ended. */
  public synchronized void ended(long pid) throws IOException {
    children.removeIf(child -> child.pid() == pid);
    write();
  }

  /** This agent's. */
  public synchronized Set<ProcessIdentity> children() {
    return Set.copyOf(children);
  }

  /** Former agents'. */
  public synchronized Set<ProcessIdentity> orphans() {
    return Set.copyOf(orphans);
  }

  /**
   * Ends the orphans that have one of some pids, and no other process that has one of them. Not by
   * {@link ProcessHandle#onExit}, which waits for a zombie as long as its parent lets it be one.
   *
   * @return the pids of those that did not end in time
   */
  public synchronized List<Long> end(Set<Long> pids, long millis)
      throws IOException, InterruptedException {
    List<ProcessIdentity> ending =
        orphans.stream().filter(orphan -> pids.contains(orphan.pid())).toList();
    // A handle knows its process's start time, and kills no other that took over the pid.
    ending.stream()
        .flatMap(identity -> identity.find().stream())
        .forEach(ProcessHandle::destroyForcibly);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (ending.stream().anyMatch(ProcessIdentity::runs) && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
    orphans.removeIf(orphan -> !orphan.runs());
    write();
    return ending.stream().filter(orphans::contains).map(ProcessIdentity::pid).toList();
  }

  private void write() throws IOException {
    Set<ProcessIdentity> all = new HashSet<>(orphans);
    all.addAll(children);
    ProcessFile.write(
        file, all.stream().map(child -> new ProcessFile.Entry(child, CHILD)).toList());
  }
}
