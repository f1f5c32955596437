package io.troupe.cluster.weights;

import static io.troupe.core.Require.require;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What the processes of one run know and others do not. Both sides of a connection prove that they
 * know it by a keyed digest of a number that the other drew; the secret itself never travels, and a
 * recorded proof is worth nothing later.
 *
 * <p>It keeps strangers, and nodes of another run, from the weights. It does not hide the weights:
 * that is TLS.
 */
public final class RunSecret {
  private static final String ALGORITHM = "HmacSHA256";
  private static final byte[] MAGIC = "troupe-weights 1".getBytes(StandardCharsets.US_ASCII);
  private static final int NONCE = 32;
  private static final int LEAST = 16;
  private static final byte ASKS = 'c';
  private static final byte SERVES = 's';

  private final byte[] key;

  private RunSecret(byte[] key) {
    this.key = key;
  }

  /** A new one. */
  public static RunSecret random() {
    return new RunSecret(drawn());
  }

  /** What {@link #hex} wrote. */
  public static RunSecret of(String hex) {
    byte[] key = HexFormat.of().parseHex(hex);
    require(key.length >= LEAST, "a run's secret has %d bytes or more, not %d", LEAST, key.length);
    return new RunSecret(key);
  }

  /** To hand to the run's other processes, over a channel that is as secret. */
  public String hex() {
    return HexFormat.of().formatHex(key);
  }

  private static byte[] drawn() {
    byte[] nonce = new byte[NONCE];
    new SecureRandom().nextBytes(nonce);
    return nonce;
  }

  /** The side that asks: proves itself, and checks the other. */
  void greet(Wire wire) throws IOException {
    byte[] theirs = readHello(wire);
    byte[] ours = drawn();
    wire.write(
        ByteBuffer.allocate(MAGIC.length + 2 * NONCE)
            .put(MAGIC)
            .put(ours)
            .put(proof(ASKS, theirs, ours))
            .flip());
    byte[] answer = read(wire, NONCE);
    if (!MessageDigest.isEqual(answer, proof(SERVES, theirs, ours))) {
      throw new IOException("the server of weights does not know this run's secret");
    }
  }

  /** The side that serves; it speaks first. */
  void welcome(Wire wire) throws IOException {
    byte[] ours = drawn();
    wire.write(ByteBuffer.allocate(MAGIC.length + NONCE).put(MAGIC).put(ours).flip());
    byte[] theirs = readHello(wire);
    byte[] answer = read(wire, NONCE);
    if (!MessageDigest.isEqual(answer, proof(ASKS, ours, theirs))) {
      throw new IOException("a receiver of weights does not know this run's secret");
    }
    wire.write(ByteBuffer.wrap(proof(SERVES, ours, theirs)));
  }

  private static byte[] readHello(Wire wire) throws IOException {
    byte[] magic = read(wire, MAGIC.length);
    if (!MessageDigest.isEqual(magic, MAGIC)) {
      throw new IOException("the other side does not speak this build's weight transfer");
    }
    return read(wire, NONCE);
  }

  private static byte[] read(Wire wire, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    wire.readFully(bytes);
    return bytes.array();
  }

  private byte[] proof(byte side, byte[] served, byte[] asked) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      mac.update(side);
      mac.update(served);
      mac.update(asked);
      return mac.doFinal();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, impossible);
    }
  }

  @Override
  public String toString() {
    return "RunSecret[hidden]";
  }
}
