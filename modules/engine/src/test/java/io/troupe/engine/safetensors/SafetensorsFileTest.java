package io.troupe.engine.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SafetensorsFileTest {
  @TempDir private Path directory;

  private static MemorySegment floats(float... values) {
    return MemorySegment.ofArray(values);
  }

  private Path file(String header, int bytes) throws IOException {
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer all =
        ByteBuffer.allocate(Long.BYTES + text.length + bytes).order(ByteOrder.LITTLE_ENDIAN);
    all.putLong(text.length).put(text);
    return Files.write(directory.resolve("x.safetensors"), all.array());
  }

  @Test
  void map_whatWasWritten_isTheSame() throws IOException {
    Path file = directory.resolve("x.safetensors");
    MemorySegment data = floats(1, 2, 3, 4, 5, 6);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(data.byteSize());
      copy.copyFrom(data);
      SafetensorsFile.write(
          file,
          List.of(
              new StoredTensor("b", DType.F32, List.of(2L, 3L), copy),
              new StoredTensor("a", DType.F32, List.of(0L), arena.allocate(0))),
          Map.of("k", "é"));

      SafetensorsFile read = SafetensorsFile.map(file, arena);

      StoredTensor tensor = Objects.requireNonNull(read.tensors().get("b"));
      assertThat(tensor.shape()).containsExactly(2L, 3L);
      assertThat(tensor.data().mismatch(copy)).isEqualTo(-1);
      assertThat(read.metadata()).containsExactly(Map.entry("k", "é"));
      assertThat(read.tensors()).containsOnlyKeys("a", "b");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "[]!0!its header is no JSON object",
        "{x!0!its header is not JSON",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{}}!4!its header is"
            + " not JSON, or names a tensor twice",
        "{\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}!8!a has dtype 'I64'; F32,"
            + " F16 and BF16 can be read",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}!4!a of shape [2], 8"
            + " bytes, claims bytes 0 to 8 of the 4",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}!4!a has shape [-1]",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}!4!too"
            + " large for any file",
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[4,8]}}!8!a begins at byte 4,"
            + " but the tensors before it end at 0",
        "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}!8!its tensors take 4"
            + " bytes, but 8 follow the header"
      })
  void map_badFile_namesTensorAndRule(String header, int bytes, String message) throws IOException {
    Path file = file(header, bytes);
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> SafetensorsFile.map(file, arena))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith(file + " is no safetensors file that can be read: ")
          .hasMessageContaining(message);
    }
  }

  @Test
  void map_headerLongerThanTheFile_isRefused() throws IOException {
    Path file = Files.write(directory.resolve("x"), new byte[] {9, 0, 0, 0, 0, 0, 0, 0, '{'});
    Path empty = Files.createFile(directory.resolve("empty"));
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> SafetensorsFile.map(file, arena))
          .hasMessageEndingWith("its header claims 9 of the file's 9 bytes");
      assertThatThrownBy(() -> SafetensorsFile.map(empty, arena))
          .hasMessageEndingWith("it has 0 bytes and no header");
    }
  }

  /** A file with a hole in it, so that the disk does not have to hold it. */
  @Test
  void map_tensorAboveTwoGigabytes_isWhole() throws IOException {
    long elements = 1_200_000_000L;
    String header =
        "{\"a\":{\"dtype\":\"BF16\",\"shape\":[%d],\"data_offsets\":[0,%d]}}"
            .formatted(elements, 2 * elements);
    Path file = file(header, 0);
    long end = Files.size(file) + 2 * elements;
    try (RandomAccessFile random = new RandomAccessFile(file.toFile(), "rw")) {
      random.setLength(end);
      random.seek(end - 2);
      random.write(new byte[] {(byte) 0x80, 0x3F}); // 1.0
    }
    try (Arena arena = Arena.ofConfined()) {
      StoredTensor tensor =
          Objects.requireNonNull(SafetensorsFile.map(file, arena).tensors().get("a"));
      assertThat(tensor.data().byteSize()).isEqualTo(2 * elements);
      MemorySegment last = floats(-1, -1);
      DType.BF16.toFloats(tensor.data().asSlice(2 * elements - 4, 4), last);
      assertThat(last.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(0, 1);
    }
  }

  /** Every value of 16 bits goes to float32 and back to itself, and halves round to even. */
  @Test
  void toFloats_everyHalfNumber_comesBack() {
    for (DType dtype : List.of(DType.F16, DType.BF16)) {
      short[] all = new short[1 << 16];
      for (int i = 0; i < all.length; i++) {
        all[i] = (short) i;
      }
      MemorySegment wide = MemorySegment.ofArray(new float[all.length]);
      MemorySegment back = MemorySegment.ofArray(new short[all.length]);
      dtype.toFloats(MemorySegment.ofArray(all), wide);
      dtype.fromFloats(wide, back);
      for (int i = 0; i < all.length; i++) {
        float value = wide.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i);
        if (!Float.isNaN(value)) {
          assertThat(back.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, i)).isEqualTo(all[i]);
        }
      }
    }
    short[] rounded = new short[3];
    DType.BF16.fromFloats(
        floats(
            Float.intBitsToFloat(0x3F808000),
            Float.intBitsToFloat(0x3F818000),
            Float.intBitsToFloat(0x7F800001)),
        MemorySegment.ofArray(rounded));
    assertThat(rounded).containsExactly(0x3F80, 0x3F82, 0x7FC0);
  }
}
