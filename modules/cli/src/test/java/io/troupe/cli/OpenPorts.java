package io.troupe.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The TCP ports on which a process listens, as Linux lists them. */
final class OpenPorts {
  private static final String LISTENING = "0A";
  private static final int ADDRESS = 1;
  private static final int STATE = 3;
  private static final int INODE = 9;

  private OpenPorts() {}

  static Set<Integer> of(long pid) throws IOException {
    Path process = Path.of("/proc", Long.toString(pid));
    Set<String> own = sockets(process.resolve("fd"));
    Set<Integer> ports = new TreeSet<>();
    for (String table : List.of("tcp", "tcp6")) {
      for (String line : Files.readAllLines(process.resolve("net").resolve(table))) {
        String[] fields = line.strip().split("\\s+", -1);
        if (fields[STATE].equals(LISTENING) && own.contains("socket:[" + fields[INODE] + "]")) {
          String port = fields[ADDRESS].substring(fields[ADDRESS].indexOf(':') + 1);
          ports.add(Integer.parseInt(port, 16));
        }
      }
    }
    return ports;
  }

  private static Set<String> sockets(Path descriptors) throws IOException {
    Set<String> sockets = new HashSet<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(descriptors)) {
      for (Path one : all) {
        try {
          sockets.add(Files.readSymbolicLink(one).toString());
        } catch (NoSuchFileException closed) {
          // It was open a moment ago.
        }
      }
    }
    return sockets;
  }
}
