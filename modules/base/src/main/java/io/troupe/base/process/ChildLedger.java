package io.troupe.base.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A file of the children that the agents of a node started, by which the next agent finds children
 * that outlived their agent. The file is the only proof that a process belongs to the node; a child
 * is entered before it can touch an accelerator.
 */
public final class ChildLedger {
  private static final String CHILD = "CHILD";
  private static final long LOOK_MILLIS = 10;

  private final Path file;
  private final Set<ProcessIdentity> children = new HashSet<>();
  private final Set<ProcessIdentity> orphans;
  private final boolean followsKilledAgent;

  private ChildLedger(Path file, Set<ProcessIdentity> orphans, boolean followsKilledAgent) {
    this.file = file;
    this.orphans = new HashSet<>(orphans);
    this.followsKilledAgent = followsKilledAgent;
  }

  /**
   * Opens the ledger of a node: entries of a former agent whose processes still run are orphans.
   */
  public static ChildLedger open(Path file) throws IOException {
    Set<ProcessIdentity> left = new HashSet<>();
    ProcessFile.read(file).forEach(entry -> left.add(entry.process()));
    boolean killed = !left.isEmpty();
    left.removeIf(identity -> identity.find().isEmpty());
    ChildLedger ledger = new ChildLedger(file, left, killed);
    ledger.write();
    return ledger;
  }

  /**
   * Whether the former agent did not see its children end, so that processes which it or they have
   * started may still be ending.
   */
  public boolean followsKilledAgent() {
    return followsKilledAgent;
  }

  /** Enters a child. */
  public synchronized void started(ProcessHandle child) throws IOException {
    Optional<ProcessIdentity> identity = ProcessIdentity.of(child);
    if (identity.isPresent()) {
      children.add(identity.get());
      write();
    }
  }

  /** Removes a child that has ended. */
  public synchronized void ended(long pid) throws IOException {
    children.removeIf(child -> child.pid() == pid);
    write();
  }

  /** Returns the children of this agent. */
  public synchronized Set<ProcessIdentity> children() {
    return Set.copyOf(children);
  }

  /** Returns the running children of former agents. */
  public synchronized Set<ProcessIdentity> orphans() {
    return Set.copyOf(orphans);
  }

  /**
   * Ends the orphans with the given pids, and no other process that got such a pid later. The
   * method does not use {@link ProcessHandle#onExit}, which waits for a zombie until its parent
   * collects it.
   *
   * @return the pids of the orphans that did not end in time
   */
  public synchronized List<Long> end(Set<Long> pids, long millis)
      throws IOException, InterruptedException {
    List<ProcessIdentity> ending =
        orphans.stream().filter(orphan -> pids.contains(orphan.pid())).toList();
    // A handle knows the start time of its process, and does not kill a later process with its pid.
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
