package io.troupe.store.file;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The machine this process runs on. */
public final class HostName {
  private static final Path KERNEL_NAME = Path.of("/proc/sys/kernel/hostname");

  private HostName() {}

  /**
   * Returns the name of this host; the kernel's where it can be read, because a name server may be
   * slow.
   */
  public static String name() {
    try {
      if (Files.isReadable(KERNEL_NAME)) {
        return Files.readString(KERNEL_NAME).strip();
      }
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException unknown) {
      return "unknown";
    } catch (IOException unreadable) {
      return "unknown";
    }
  }
}
