package io.troupe.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that stop and come back at the same port. A port that the system assigns may be
 * another program's as soon as the server is gone: the system assigns such ports to every
 * connection that is opened. A port below its range is taken only by a program that names it.
 */
public final class UnusedPorts {
  private static final int FIRST = 10_000;

  /** The first port that Linux assigns by itself, unless it is configured otherwise. */
  private static final int END = 32_768;

  private static final int TRIES = 1_000;

  private UnusedPorts() {}

  /**
   * Returns a port of the loopback device that is free now, and that the system assigns to no other
   * program.
   *
   * @throws IOException if none is found
   */
  public static int next() throws IOException {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IOException("no port from %d to %d is free".formatted(FIRST, END - 1));
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException taken) {
      return false;
    }
  }
}
