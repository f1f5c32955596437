package io.troupe.console.process;

import io.troupe.console.http.ApiException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Stacks of the threads of this JVM, sampled by the JDK's flight recorder: threads that run Java
 * every 10 ms, threads inside native code (a PyTorch operation, say) every 20 ms, which therefore
 * count twice.
 */
final class StackSampler {
  private static final String JAVA = "jdk.ExecutionSample";
  private static final String NATIVE = "jdk.NativeMethodSample";

  /** Native methods in which a thread waits for the world. */
  private static final Set<String> WAITING =
      Set.of(
          "sun.nio.ch.EPoll.wait",
          "sun.nio.ch.Net.accept",
          "sun.nio.ch.Net.poll",
          "sun.nio.ch.NioSocketImpl.park",
          "sun.nio.ch.SocketDispatcher.read0",
          "sun.nio.ch.UnixFileDispatcherImpl.read0",
          "java.io.FileInputStream.readBytes",
          "java.lang.ProcessHandleImpl.waitForProcessExit0",
          "jdk.internal.misc.Unsafe.park",
          "java.lang.Object.wait0");

  private static final Semaphore ONE = new Semaphore(1);

  private StackSampler() {}

  /**
   * Samples for a while.
   *
   * @throws ApiException if samples of another caller are being taken
   */
  static FlameFrame take(Duration duration) throws IOException, InterruptedException, ApiException {
    if (!ONE.tryAcquire()) {
      throw new ApiException(
          409, "stacks are being sampled for somebody else; ask again in a moment");
    }
    Path file = Files.createTempFile("troupe-stacks", ".jfr");
    try (Recording recording = new Recording()) {
      recording.enable(JAVA).withPeriod(Duration.ofMillis(10));
      recording.enable(NATIVE).withPeriod(Duration.ofMillis(20));
      recording.start();
      Thread.sleep(duration);
      recording.stop();
      recording.dump(file);
      return read(file);
    } finally {
      Files.delete(file);
      ONE.release();
    }
  }

  private static FlameFrame read(Path file) throws IOException {
    FlameFrame.Sum sum = new FlameFrame.Sum();
    long samples = 0;
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        RecordedEvent event = recording.readEvent();
        boolean inNative = event.getEventType().getName().equals(NATIVE);
        List<String> stack = stack(event);
        if (!stack.isEmpty() && !(inNative && WAITING.contains(stack.getLast()))) {
          sum.add(stack);
          samples++;
          if (inNative) {
            sum.add(stack);
            samples++;
          }
        }
      }
    }
    return sum.flame("all threads", Math.max(1, samples / 1000));
  }

  /** The thread's kind, and its frames from the outermost inwards. */
  private static List<String> stack(RecordedEvent event) {
    if (event.getStackTrace() == null) {
      return List.of();
    }
    List<String> stack = new ArrayList<>();
    for (RecordedFrame frame : event.getStackTrace().getFrames()) {
      RecordedMethod method = frame.getMethod();
      // The name of a hidden class ends in an address.
      String type = method.getType().getName().replaceFirst("[./]0x[0-9a-f]+.*", "");
      stack.add(type + "." + method.getName());
    }
    Collections.reverse(stack);
    RecordedThread thread = event.getThread("sampledThread");
    String name = thread == null || thread.getJavaName() == null ? "" : thread.getJavaName();
    stack.addFirst(name.isBlank() ? "a virtual thread" : name.replaceAll("\\d+", "N"));
    return stack;
  }
}
