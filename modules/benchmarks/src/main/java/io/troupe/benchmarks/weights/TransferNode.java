package io.troupe.benchmarks.weights;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.weights.cache.WeightCacheSettings;
import io.troupe.weights.transfer.NodeWeights;
import io.troupe.weights.transfer.TransferSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/**
 * A node of {@code troupe bench weights}: owns a weight cache, as a node agent does. Arguments are
 * its address, its directory and the secret. Answers each line:
 *
 * <ul>
 *   <li>{@code open}: with an empty cache; the port of its weight server
 *   <li>{@code listen}: the port of a plain socket, whose next connection is written into a file
 *   <li>{@code received}: the bytes of that file, once they are all there
 * </ul>
 */
final class TransferNode {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int SLICE = 1 << 18;
  private static final int CHUNK = 4 << 20;

  private TransferNode() {}

  static WeightCacheSettings cache(Path root) {
    return new WeightCacheSettings(List.of(root), 0, 2, CHUNK);
  }

  public static void main(String[] arguments) throws IOException {
    String host = arguments[0];
    Path root = Path.of(arguments[1]);
    RunSecret secret = RunSecret.of(arguments[2]);
    NodeWeights node = open(host, root, secret);
    try (ServerSocketChannel plain = ServerSocketChannel.open()) {
      plain.bind(new InetSocketAddress(host, 0));
      BufferedReader commands =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = commands.readLine(); line != null; line = commands.readLine()) {
        switch (line) {
          case "open" -> {
            node.delete();
            node = open(host, root, secret);
            answer(node.address().getPort());
          }
          case "listen" -> answer(((InetSocketAddress) plain.getLocalAddress()).getPort());
          case "received" -> answer(receive(plain, root.resolve("plain")));
          default -> throw new IOException("no such command: " + line);
        }
      }
    } finally {
      node.delete();
    }
  }

  private static NodeWeights open(String host, Path root, RunSecret secret) throws IOException {
    return NodeWeights.open(
        cache(root),
        ConnectionFactory.onLoopback(),
        new InetSocketAddress(host, 0),
        secret,
        TransferSettings.usual());
  }

  private static void answer(long value) throws IOException {
    System.out.println(JSON.writeValueAsString(Map.of("value", value)));
  }

  private static long receive(ServerSocketChannel plain, Path target) throws IOException {
    ByteBuffer slice = ByteBuffer.allocateDirect(SLICE);
    long bytes = 0;
    try (SocketChannel source = plain.accept();
        FileChannel file =
            FileChannel.open(target, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      while (source.read(slice.clear()) >= 0) {
        slice.flip();
        bytes += slice.remaining();
        while (slice.hasRemaining()) {
          file.write(slice);
        }
      }
    }
    Files.delete(target);
    return bytes;
  }
}
