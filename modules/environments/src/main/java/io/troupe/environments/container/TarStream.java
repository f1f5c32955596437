package io.troupe.environments.container;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Entries of a tar archive as container engines write it: POSIX ustar with pax, or GNU names. */
final class TarStream {
  private static final int BLOCK = 512;
  private static final int MOST_NAME = 1 << 16;

  private final InputStream in;
  private long rest;

  TarStream(InputStream in) {
    this.in = in;
  }

  /**
   * The header of a file: the block before its bytes.
   *
   * @param type {@code 0} for a regular file, {@code 2} for a link, {@code 5} for a folder
   */
  record Entry(String name, char type, int mode, long size) {
    static final Entry END = new Entry("", ' ', 0, 0);
  }

  /** Returns the next entry, or {@link Entry#END}; passes over what was not read of the last. */
  Entry next() throws IOException {
    String name = "";
    long size = -1;
    while (true) {
      in.skipNBytes(rest);
      byte[] header = in.readNBytes(BLOCK);
      if (header.length < BLOCK || header[0] == 0) {
        rest = 0;
        return Entry.END;
      }
      Entry entry = entry(header);
      char type = entry.type();
      rest = padded(size >= 0 && type != 'x' ? size : entry.size());
      if (type != 'x' && type != 'L' && type != 'K' && type != 'g') {
        return new Entry(
            name.isEmpty() ? entry.name() : name,
            type,
            entry.mode(),
            size >= 0 ? size : entry.size());
      }
      if (entry.size() > MOST_NAME) {
        throw new IOException("a header of %d bytes in an archive".formatted(entry.size()));
      }
      String text = new String(content(entry.size()), StandardCharsets.UTF_8);
      if (type == 'L') {
        name = text.replace("\0", "");
      } else if (type == 'x') {
        for (String line : text.split("\n", -1)) {
          String pair = line.substring(line.indexOf(' ') + 1);
          name = pair.startsWith("path=") ? pair.substring("path=".length()) : name;
          size = pair.startsWith("size=") ? Long.parseLong(pair.substring(5)) : size;
        }
      }
    }
  }

  /** Returns the bytes of the entry that was read last. */
  byte[] content(long size) throws IOException {
    byte[] bytes = in.readNBytes(Math.toIntExact(size));
    if (bytes.length < size) {
      throw new EOFException("an archive ends within a file");
    }
    rest -= size;
    return bytes;
  }

  private static Entry entry(byte[] header) {
    String prefix = text(header, 345, 155);
    boolean posix = text(header, 257, 6).equals("ustar");
    String name = text(header, 0, 100);
    char type = header[156] == 0 ? '0' : (char) header[156];
    return new Entry(
        posix && !prefix.isEmpty() ? prefix + "/" + name : name,
        type,
        (int) number(header, 100, 8),
        type == '1' || type == '2' || type == '5' ? 0 : number(header, 124, 12));
  }

  private static long padded(long size) {
    return (size + BLOCK - 1) / BLOCK * BLOCK;
  }

  private static String text(byte[] header, int from, int most) {
    int end = from;
    while (end < from + most && header[end] != 0) {
      end++;
    }
    return new String(header, from, end - from, StandardCharsets.UTF_8);
  }

  /** In octal digits, or, if these do not suffice, in base 256 behind a first bit. */
  private static long number(byte[] header, int from, int length) {
    if (header[from] < 0) {
      long value = 0;
      for (int i = from + 1; i < from + length; i++) {
        value = (value << 8) | (header[i] & 0xFF);
      }
      return value;
    }
    String digits = text(header, from, length).strip();
    return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
  }

  /** Adds a regular file to an archive that {@link #end} ends. */
  static void add(ByteArrayOutputStream archive, String path, int mode, byte[] bytes) {
    byte[] name = path.getBytes(StandardCharsets.UTF_8);
    if (name.length > 100) {
      archive.writeBytes(
          header("././@LongLink".getBytes(StandardCharsets.UTF_8), 'L', 0, name.length));
      archive.writeBytes(Arrays.copyOf(name, (int) padded(name.length)));
    }
    archive.writeBytes(header(name, '0', mode, bytes.length));
    archive.writeBytes(bytes);
    archive.writeBytes(new byte[(int) (padded(bytes.length) - bytes.length)]);
  }

  static byte[] end(ByteArrayOutputStream archive) {
    archive.writeBytes(new byte[2 * BLOCK]);
    return archive.toByteArray();
  }

  private static byte[] header(byte[] name, char type, int mode, long size) {
    byte[] header = new byte[BLOCK];
    System.arraycopy(name, 0, header, 0, Math.min(name.length, 100));
    put(
        header,
        100,
        "%07o\0%07o\0%07o\0%011o\0%011o\0        %c".formatted(mode, 0, 0, size, 0, type));
    put(header, 257, "ustar  \0");
    int sum = 0;
    for (byte each : header) {
      sum += each & 0xFF;
    }
    put(header, 148, "%06o\0 ".formatted(sum));
    return header;
  }

  private static void put(byte[] header, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }
}
