package io.troupe.console.process;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Collectors;

/** The stack of every platform thread of this JVM. */
final class ThreadDump {
  private ThreadDump() {}

  static String take() {
    return Arrays.stream(ManagementFactory.getThreadMXBean().dumpAllThreads(true, true))
        .sorted(Comparator.comparing(ThreadInfo::getThreadName))
        .map(ThreadDump::text)
        .collect(Collectors.joining("\n"));
  }

  private static String text(ThreadInfo thread) {
    StringBuilder text = new StringBuilder();
    text.append('"').append(thread.getThreadName()).append("\" ").append(thread.getThreadState());
    if (thread.getLockName() != null) {
      text.append(" on ").append(thread.getLockName());
    }
    text.append('\n');
    for (StackTraceElement frame : thread.getStackTrace()) {
      text.append("    at ").append(frame).append('\n');
    }
    return text.toString();
  }
}
