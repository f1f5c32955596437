package io.troupe.base.process;

import io.troupe.base.foreign.ForeignFunctions;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A child process with every process that it starts.
 *
 * <p>The child leads a session of its own, so that a terminal's ^C reaches only this process, which
 * decides what a child does then. Its environment carries a {@link ProcessMark}, which its
 * descendants inherit. {@link #kill} ends the session and every process with the mark, also a
 * descendant that has left the session, or whose parents have ended. If this JVM ends, in any way,
 * the {@link OrphanGuard} does the same.
 *
 * <p>Sessions need the program {@code setsid}, and marks need {@code /proc}, which Linux has.
 * Elsewhere the descendants that are still below the child end with it, and nothing ends them with
 * the JVM.
 */
public final class ProcessGroup implements AutoCloseable {
  /** The name, in its command line, of the child that ends all groups after their JVM. */
  public static final String GUARD = "orphan-guard";

  private static final Optional<String> SETSID = SearchPath.find("setsid").map(Object::toString);
  private static final int SIGKILL = 9;

  private final PipedChild child;
  private final ProcessMark mark;

  private ProcessGroup(PipedChild child, ProcessMark mark) {
    this.child = child;
    this.mark = mark;
  }

  /**
   * Starts a child.
   *
   * @param builder of which the words and the environment are changed
   * @throws IOException if the child, or the guard of this JVM, cannot be started
   */
  public static ProcessGroup start(ProcessBuilder builder) throws IOException {
    OrphanGuard.ensure();
    builder.command(inSession(builder.command()));
    ProcessMark mark = ProcessMark.create();
    return new ProcessGroup(PipedChild.start(mark.put(builder)), mark);
  }

  static List<String> inSession(List<String> command) {
    List<String> words = new ArrayList<>();
    SETSID.ifPresent(words::add);
    words.addAll(command);
    return words;
  }

  /** Returns the child itself. */
  public Process leader() {
    return child.process();
  }

  /** Returns the standard output; see {@link PipedChild}. */
  public InputStream output() {
    return child.output();
  }

  /** Returns the standard error; empty if the builder merges it into the output. */
  public InputStream errors() {
    return child.errors();
  }

  /** Returns every process of the group that can be found now. */
  public Set<ProcessHandle> members() {
    Set<ProcessHandle> found = new LinkedHashSet<>();
    found.add(leader().toHandle());
    leader().descendants().forEach(found::add);
    found.addAll(mark.find());
    return found;
  }

  /** Sends the child a signal, such as {@link Signals#SIGINT}; an ended child gets none. */
  public void signal(int number) {
    if (leader().isAlive()) {
      send(leader().pid(), number);
    }
  }

  /** Ends every process of the group now. */
  public void kill() {
    List<ProcessHandle> descendants = leader().descendants().toList();
    long pid = leader().pid();
    // While a member of the session runs, its id is given to no process. So a process with the pid
    // of an ended leader shows that the session is empty, and that the id may be another one's.
    if (SETSID.isPresent() && (leader().isAlive() || ProcessHandle.of(pid).isEmpty())) {
      send(-pid, SIGKILL);
    }
    leader().destroyForcibly();
    descendants.forEach(ProcessHandle::destroyForcibly);
    mark.kill();
  }

  @Override
  public void close() {
    kill();
  }

  private static void send(long pid, int number) {
    int _ = ForeignFunctions.call(() -> (int) Posix.KILL.invokeExact(Math.toIntExact(pid), number));
  }

  /** Functions of the C library, looked up when the first is called. */
  private static final class Posix {
    private static final MethodHandle KILL =
        ForeignFunctions.ofTheCLibrary(
            "kill",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  }
}
