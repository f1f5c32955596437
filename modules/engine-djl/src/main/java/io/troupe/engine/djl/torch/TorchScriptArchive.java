package io.troupe.engine.djl.torch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Packs TorchScript source into the archive that PyTorch's loader reads: a zip of stored entries
 * with the source, an empty tuple of constants, and the pickle of one module object of class {@code
 * K} whose only attribute is {@code training = False}.
 */
final class TorchScriptArchive {
  private static final String FORMAT_VERSION = "4\n";

  private TorchScriptArchive() {}

  static byte[] pack(byte[] source) {
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(archive)) {
      store(zip, "version", FORMAT_VERSION.getBytes(StandardCharsets.US_ASCII));
      store(zip, "constants.pkl", pickle(")."));
      // Class, empty arguments, NEWOBJ, {"training": False}, BUILD; numbers are memo slots.
      store(
          zip,
          "data.pkl",
          pickle("c__torch__\nK\nq\0)\u0081}(X\u0008\0\0\0trainingq\u0001\u0089ubq\u0002."));
      store(zip, "code/__torch__.py", source);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible); // writing to memory cannot fail
    }
    return archive.toByteArray();
  }

  /** A pickle of protocol 2, whose opcodes are given as Latin-1 characters. */
  private static byte[] pickle(String opcodes) {
    return ("\u0080\u0002" + opcodes).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void store(ZipOutputStream zip, String name, byte[] content) throws IOException {
    CRC32 checksum = new CRC32();
    checksum.update(content);
    ZipEntry entry = new ZipEntry("policy/" + name);
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(content.length);
    entry.setCompressedSize(content.length);
    entry.setCrc(checksum.getValue());
    zip.putNextEntry(entry);
    zip.write(content);
    zip.closeEntry();
  }
}
