package io.troupe.base.process;

import io.troupe.base.foreign.ForeignFunctions;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * A child process whose output comes through pipes that the JDK does not manage.
 *
 * <p>{@link Process#getInputStream} is unfit for a child with descendants: a blocked read holds the
 * lock of that stream, and if the child ends while a descendant holds the pipe, the JDK's exit
 * handler waits for the lock on a worker of the common pool. With one such worker, as two cores
 * have, every later {@link Process#onExit} and HTTP response of the JVM waits as well.
 *
 * <p>Platform threads must read the streams: a virtual thread keeps its carrier while it waits.
 *
 * @param output the standard output; ends when neither the child nor a descendant can write any
 *     more
 * @param errors the standard error, likewise; empty if the builder merges it into the output or
 *     redirects it
 */
record PipedChild(Process process, InputStream output, InputStream errors) {
  private static final MethodHandle PIPE = function("pipe", ValueLayout.ADDRESS);
  private static final MethodHandle CLOSE = function("close", ValueLayout.JAVA_INT);

  /**
   * Starts a child. Output that {@code builder} redirects elsewhere comes through no pipe.
   *
   * @throws IOException if the child cannot be started, or no pipe can be made
   */
  static PipedChild start(ProcessBuilder builder) throws IOException {
    if (!builder.redirectOutput().equals(Redirect.PIPE)) {
      return new PipedChild(
          builder.start(), InputStream.nullInputStream(), InputStream.nullInputStream());
    }
    try (Pipe output = Pipe.make()) {
      builder.redirectOutput(output.writeEnd());
      if (builder.redirectErrorStream() || !builder.redirectError().equals(Redirect.PIPE)) {
        return new PipedChild(builder.start(), output.stream(), InputStream.nullInputStream());
      }
      try (Pipe errors = Pipe.make()) {
        builder.redirectError(errors.writeEnd());
        return new PipedChild(builder.start(), output.stream(), errors.stream());
      }
    }
  }

  /** The descriptors of a pipe in this process. */
  private record Pipe(int read, int write) implements AutoCloseable {
    static Pipe make() throws IOException {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment ends = arena.allocate(ValueLayout.JAVA_INT, 2);
        if (call(PIPE, ends) != 0) {
          throw new IOException(
              "no pipe can be made for the output of a child; the process may have no file"
                  + " descriptor left (raise ulimit -n)");
        }
        return new Pipe(
            ends.getAtIndex(ValueLayout.JAVA_INT, 0), ends.getAtIndex(ValueLayout.JAVA_INT, 1));
      }
    }

    /** The end for a child, which gets a descriptor of its own. */
    Redirect writeEnd() {
      return Redirect.to(path(write).toFile());
    }

    /** Opens the end of this process, with a descriptor of its own. */
    InputStream stream() throws IOException {
      return new FileInputStream(path(read).toFile());
    }

    private static Path path(int descriptor) {
      return Path.of("/dev/fd", Integer.toString(descriptor));
    }

    @Override
    public void close() {
      int _ = call(CLOSE, read);
      int _ = call(CLOSE, write);
    }
  }

  private static int call(MethodHandle function, Object argument) {
    return ForeignFunctions.call(() -> (int) function.invoke(argument));
  }

  private static MethodHandle function(String name, ValueLayout argument) {
    return ForeignFunctions.ofTheCLibrary(
        name, FunctionDescriptor.of(ValueLayout.JAVA_INT, argument));
  }
}
