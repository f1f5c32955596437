package io.troupe.net.secret;

import static io.troupe.core.Require.require;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of the processes of one run. Both sides of a connection prove that they know it by a
 * keyed digest of a number that the other drew; the secret itself never travels, and a recorded
 * proof is worth nothing later, nor for a connection with another purpose.
 *
 * <p>It keeps strangers, and processes of another run, out. It does not hide what passes after it:
 * that is TLS.
 */
public final class RunSecret {
  private static final String ALGORITHM = "HmacSHA256";
  private static final byte[] MAGIC = "troupe-secret 1".getBytes(StandardCharsets.US_ASCII);
  private static final int NONCE = 32;
  private static final int MIN_BYTES = 16;
  private static final Pattern HEX = Pattern.compile("([0-9a-f]{2}){%d,}".formatted(MIN_BYTES));
  private static final String UNPROVEN = "the other side does not know this run's secret";
  private static final byte ASKS = 'c';
  private static final byte SERVES = 's';

  private final byte[] key;

  /** A connection as a proof needs it. Calls block; closing it from another thread ends them. */
  public interface DuplexStream {
    /** Sends all bytes. */
    void write(ByteBuffer bytes) throws IOException;

    /** Reads until the buffer is full. */
    void readFully(ByteBuffer bytes) throws IOException;
  }

  private RunSecret(byte[] key) {
    this.key = key;
  }

  /** Returns a new secret. */
  public static RunSecret random() {
    return new RunSecret(randomNonce());
  }

  /** Reads the text of {@link #hex}. */
  public static RunSecret of(String hex) {
    byte[] key = HexFormat.of().parseHex(hex);
    require(
        key.length >= MIN_BYTES,
        "a run's secret has %d bytes or more, not %d",
        MIN_BYTES,
        key.length);
    return new RunSecret(key);
  }

  /** Whether {@link #hex} can have written it. */
  public static boolean isHex(String text) {
    return HEX.matcher(text).matches();
  }

  /** To hand to the run's other processes, over a channel that is as secret. */
  public String hex() {
    return HexFormat.of().formatHex(key);
  }

  private static byte[] randomNonce() {
    byte[] nonce = new byte[NONCE];
    new SecureRandom().nextBytes(nonce);
    return nonce;
  }

  /**
   * The side that connected: proves itself, and checks the other.
   *
   * @param purpose purpose of the connection, in the same words on both sides
   * @throws IOException if the other side proves nothing
   */
  public void proveAsClient(DuplexStream line, String purpose) throws IOException {
    byte[] theirs = readHello(line);
    byte[] ours = randomNonce();
    line.write(
        ByteBuffer.allocate(MAGIC.length + 2 * NONCE)
            .put(MAGIC)
            .put(ours)
            .put(proof(ASKS, purpose, theirs, ours))
            .flip());
    byte[] answer = read(line, NONCE);
    if (!MessageDigest.isEqual(answer, proof(SERVES, purpose, theirs, ours))) {
      throw new IOException(UNPROVEN);
    }
  }

  /**
   * The side that listens; it speaks first.
   *
   * @param purpose purpose of the connection, in the same words on both sides
   * @throws IOException if the other side proves nothing
   */
  public void proveAsServer(DuplexStream line, String purpose) throws IOException {
    byte[] ours = randomNonce();
    line.write(ByteBuffer.allocate(MAGIC.length + NONCE).put(MAGIC).put(ours).flip());
    byte[] theirs = readHello(line);
    byte[] answer = read(line, NONCE);
    if (!MessageDigest.isEqual(answer, proof(ASKS, purpose, ours, theirs))) {
      throw new IOException(UNPROVEN);
    }
    line.write(ByteBuffer.wrap(proof(SERVES, purpose, ours, theirs)));
  }

  private static byte[] readHello(DuplexStream line) throws IOException {
    byte[] magic = read(line, MAGIC.length);
    if (!MessageDigest.isEqual(magic, MAGIC)) {
      throw new IOException("the other side does not speak as processes of this build do");
    }
    return read(line, NONCE);
  }

  private static byte[] read(DuplexStream line, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    line.readFully(bytes);
    return bytes.array();
  }

  private byte[] proof(byte side, String purpose, byte[] served, byte[] asked) {
    byte[] words = purpose.getBytes(StandardCharsets.UTF_8);
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      mac.update(side);
      mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(words.length).flip());
      mac.update(words);
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
