package io.troupe.aws.sagemaker;

import io.troupe.base.files.DurableFiles;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * Unpacks the files of a {@code .tar.gz}: POSIX ustar with long names of GNU and of pax. Links and
 * devices are left out.
 */
final class TarArchive {
  private static final int BLOCK = 512;
  private static final int NAME = 100;
  private static final int SIZE_AT = 124;
  private static final int SIZE = 12;
  private static final int TYPE_AT = 156;
  private static final int PREFIX_AT = 345;
  private static final int PREFIX = 155;
  private static final int LONGEST_NAME = 1 << 16;

  private final InputStream in;
  private final Path folder;
  private int files;

  private TarArchive(InputStream in, Path folder) {
    this.in = in;
    this.folder = folder;
  }

  /**
   * Unpacks an archive.
   *
   * @return the number of files
   * @throws IOException if a name leaves the folder, or the archive is cut off
   */
  static int unpack(Path archive, Path folder) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(archive), 1 << 16)) {
      TarArchive reading = new TarArchive(in, folder.toAbsolutePath().normalize());
      reading.run();
      return reading.files;
    } catch (EOFException cut) {
      throw new IOException("%s is cut off; download it again".formatted(archive), cut);
    }
  }

  private void run() throws IOException {
    Optional<String> longName = Optional.empty();
    while (true) {
      byte[] header = in.readNBytes(BLOCK);
      if (header.length < BLOCK) {
        throw new EOFException();
      }
      if (header[0] == 0) {
        return; // Two blocks of zeros end an archive.
      }
      long size = size(header);
      switch (header[TYPE_AT]) {
        case 'L' -> longName = Optional.of(text(content(size), 0, Math.toIntExact(size)));
        case 'x' -> longName = paxPath(content(size));
        case '0', 0 -> {
          write(longName.orElse(name(header)), size);
          longName = Optional.empty();
        }
        default -> {
          in.skipNBytes(padded(size));
          longName = Optional.empty();
        }
      }
    }
  }

  private void write(String name, long size) throws IOException {
    Path target = folder.resolve(name.replaceFirst("^(\\./)+", "")).normalize();
    if (!target.startsWith(folder) || target.equals(folder)) {
      throw new IOException(
          "the archive has a file %s, which is not below the folder; nothing of it is used"
              .formatted(name));
    }
    Files.createDirectories(DurableFiles.parent(target));
    try (OutputStream out = Files.newOutputStream(target)) {
      byte[] buffer = new byte[1 << 16];
      for (long left = size; left > 0; ) {
        int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (read < 0) {
          throw new EOFException();
        }
        out.write(buffer, 0, read);
        left -= read;
      }
    }
    in.skipNBytes(padded(size) - size);
    files++;
  }

  private byte[] content(long size) throws IOException {
    if (size > LONGEST_NAME) {
      throw new IOException("the archive has a name of %d bytes".formatted(size));
    }
    byte[] bytes = in.readNBytes((int) padded(size));
    if (bytes.length < padded(size)) {
      throw new EOFException();
    }
    return Arrays.copyOf(bytes, (int) size);
  }

  /** Records are {@code LENGTH KEY=VALUE\n}. */
  private static Optional<String> paxPath(byte[] records) {
    return new String(records, StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.contains(" path="))
        .map(line -> line.substring(line.indexOf(" path=") + " path=".length()))
        .findFirst();
  }

  private static long padded(long size) {
    return (size + BLOCK - 1) / BLOCK * BLOCK;
  }

  private static String name(byte[] header) {
    String prefix = text(header, PREFIX_AT, PREFIX);
    String name = text(header, 0, NAME);
    return prefix.isEmpty() ? name : prefix + "/" + name;
  }

  private static String text(byte[] bytes, int at, int most) {
    int end = at;
    while (end < at + most && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, at, end - at, StandardCharsets.UTF_8);
  }

  /** Octal, or, for 8 GiB and more, binary behind a first byte with its highest bit set. */
  private static long size(byte[] header) throws IOException {
    if (header[SIZE_AT] < 0) {
      long size = 0;
      for (int i = SIZE_AT + SIZE - Long.BYTES; i < SIZE_AT + SIZE; i++) {
        size = (size << 8) | (header[i] & 0xff);
      }
      return size;
    }
    String octal = text(header, SIZE_AT, SIZE).strip();
    if (!octal.matches("[0-7]{1,11}")) {
      throw new IOException("this is not a tar archive: a size of '%s'".formatted(octal));
    }
    return Long.parseLong(octal, 8);
  }
}
