package io.troupe.tracking.wandb;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/** Reads the records of an offline file of Weights and Biases, chunk by chunk. */
public final class WandbLogReader {
  private static final int BLOCK = 32 << 10;

  private WandbLogReader() {}

  /** The records; fails at the first byte that is not as the format wants it. */
  public static List<byte[]> records(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    List<byte[]> records = new ArrayList<>();
    if (bytes.getInt() != 0x4226573a || bytes.getShort() != (short) 0xBEE1 || bytes.get() != 0) {
      throw new IOException("no header");
    }
    ByteArrayOutputStream record = new ByteArrayOutputStream();
    while (bytes.hasRemaining()) {
      int left = BLOCK - bytes.position() % BLOCK;
      if (left < 7) {
        bytes.position(bytes.position() + left);
        continue;
      }
      int crc = bytes.getInt();
      byte[] chunk = new byte[Short.toUnsignedInt(bytes.getShort())];
      int type = bytes.get();
      bytes.get(chunk);
      CRC32 expected = new CRC32();
      expected.update(type);
      expected.update(chunk);
      if ((int) expected.getValue() != crc || (type <= 2) != (record.size() == 0 || type == 2)) {
        throw new IOException("chunk of type %d at %d".formatted(type, bytes.position()));
      }
      record.writeBytes(chunk);
      if (type == 1 || type == 4) {
        records.add(record.toByteArray());
        record.reset();
      }
    }
    return records;
  }

  /** The field of each record that says what it is. */
  public static List<Integer> fields(Path file) throws IOException {
    List<Integer> fields = new ArrayList<>();
    for (byte[] record : records(file)) {
      int at = 1;
      while (record[at] < 0) { // the number of the record
        at++;
      }
      int low = record[at + 1] & 0x7f;
      int tag = record[at + 1] < 0 ? low | record[at + 2] << 7 : low;
      fields.add(tag >> 3);
    }
    return fields;
  }

  /** The records as text, for what is text in them. */
  public static List<String> texts(Path file) throws IOException {
    return records(file).stream().map(record -> new String(record, UTF_8)).toList();
  }
}
