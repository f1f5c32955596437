package io.troupe.engine.toy;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import io.troupe.base.files.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The state that training continues from, as two safetensors files: {@code model.safetensors} with
 * the weights, {@code trainer.safetensors} with the rest and the tokenizer's alphabet, so that a
 * checkpoint is not read into a policy with another alphabet.
 *
 * <p>A file's header (its tensors' names, types, shapes and places) is a function of the policy's
 * settings and of whether there is a reference. Reading compares it byte for byte.
 *
 * @param reference empty if none is frozen
 * @param steps of the optimizer
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ToyCheckpoint(
    float[] weights, float[] firstMoment, float[] secondMoment, float[] reference, long steps) {
  static final String MODEL = "model.safetensors";
  static final String TRAINER = "trainer.safetensors";
  static final String FIRST = "first_moment";
  static final String SECOND = "second_moment";

  /** Name, safetensors type, shape and little-endian bytes of a tensor. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Tensor(String name, String type, long[] shape, byte[] data) {
    static Tensor floats(String name, long[] shape, float[] values) {
      return new Tensor(name, "F32", shape, ToySnapshots.bytes(values));
    }
  }

  /** Writes both files and forces them, and their directory, to the disk. */
  static void write(
      Path directory, ToySettings settings, LogitTable model, ToyCheckpoint checkpoint)
      throws IOException {
    checkpoint.writeModel(directory, model);
    writeFile(directory.resolve(TRAINER), checkpoint.trainerTensors(settings, model));
    DurableFiles.syncFolder(directory);
  }

  /** Writes the file of the weights. */
  void writeModel(Path directory, LogitTable model) throws IOException {
    writeFile(directory.resolve(MODEL), modelTensors(model));
  }

  /** Reads the weights that {@link #writeModel} wrote. */
  static float[] readModel(Path directory, LogitTable model) throws IOException {
    float[] zeros = new float[model.parameters()];
    ToyCheckpoint bare = new ToyCheckpoint(zeros, zeros, zeros, new float[0], 0);
    return floats(readFile(directory.resolve(MODEL), bare.modelTensors(model)), model.parameters());
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws IOException if a file is missing, cut off, or of a policy with other settings
   */
  static ToyCheckpoint read(Path directory, ToySettings settings, LogitTable model)
      throws IOException {
    float[] zeros = new float[model.parameters()];
    ToyCheckpoint bare = new ToyCheckpoint(zeros, zeros, zeros, new float[0], 0);
    ToyCheckpoint penalised = new ToyCheckpoint(zeros, zeros, zeros, zeros, 0);
    float[] weights = readModel(directory, model);
    byte[] bytes = Files.readAllBytes(directory.resolve(TRAINER));
    boolean hasReference = startsWith(bytes, header(penalised.trainerTensors(settings, model)));
    ByteBuffer rest =
        readFile(
            directory.resolve(TRAINER),
            (hasReference ? penalised : bare).trainerTensors(settings, model));
    int[] alphabet = settings.alphabet().codePoints().toArray();
    for (int character : alphabet) {
      if (rest.getInt() != character) {
        throw new IOException(
            "%s was written for another alphabet than \"%s\"; restore it into the policy it is of"
                .formatted(directory.resolve(TRAINER), settings.alphabet()));
      }
    }
    return new ToyCheckpoint(
        weights,
        floats(rest, model.parameters()),
        floats(rest, model.parameters()),
        hasReference ? floats(rest, model.parameters()) : new float[0],
        rest.getLong());
  }

  private List<Tensor> modelTensors(LogitTable model) {
    return List.of(Tensor.floats(LogitTable.TENSOR, model.shape(), weights));
  }

  private List<Tensor> trainerTensors(ToySettings settings, LogitTable model) {
    int[] alphabet = settings.alphabet().codePoints().toArray();
    byte[] characters = new byte[Integer.BYTES * alphabet.length];
    littleEndian(characters).asIntBuffer().put(alphabet);
    List<Tensor> tensors = new ArrayList<>();
    tensors.add(new Tensor("alphabet", "I32", new long[] {alphabet.length}, characters));
    tensors.add(Tensor.floats(FIRST, model.shape(), firstMoment));
    tensors.add(Tensor.floats(SECOND, model.shape(), secondMoment));
    if (reference.length > 0) {
      tensors.add(Tensor.floats("reference", model.shape(), reference));
    }
    byte[] count = new byte[Long.BYTES];
    littleEndian(count).putLong(steps);
    tensors.add(new Tensor("steps", "I64", new long[] {1}, count));
    return tensors;
  }

  private static void writeFile(Path file, List<Tensor> tensors) throws IOException {
    try (FileChannel channel = FileChannel.open(file, CREATE_NEW, WRITE)) {
      writeFully(channel, ByteBuffer.wrap(header(tensors)));
      for (Tensor tensor : tensors) {
        writeFully(channel, ByteBuffer.wrap(tensor.data));
      }
      channel.force(true);
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /** The values of a file, positioned behind its header, which must be that of the tensors. */
  private static ByteBuffer readFile(Path file, List<Tensor> expected) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    byte[] header = header(expected);
    int size = header.length + expected.stream().mapToInt(t -> t.data.length).sum();
    if (!startsWith(bytes, header)) {
      throw new IOException(
          "%s is no checkpoint of this policy: its tensors have other names or shapes than %s"
              .formatted(
                  file,
                  new String(header, Long.BYTES, header.length - Long.BYTES, StandardCharsets.UTF_8)
                      .strip()));
    }
    if (bytes.length != size) {
      throw new IOException(
          "%s has %d bytes instead of %d; it is damaged, restore an older checkpoint"
              .formatted(file, bytes.length, size));
    }
    return ByteBuffer.wrap(bytes, header.length, bytes.length - header.length)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Length of the JSON in 64 bits, and the JSON, padded with spaces to a multiple of 8. */
  private static byte[] header(List<Tensor> tensors) {
    StringBuilder json = new StringBuilder("{");
    long offset = 0;
    for (Tensor tensor : tensors) {
      json.append(json.length() > 1 ? "," : "")
          .append(
              "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                  .formatted(
                      tensor.name,
                      tensor.type,
                      Arrays.toString(tensor.shape).replace(" ", ""),
                      offset,
                      offset + tensor.data.length));
      offset += tensor.data.length;
    }
    json.append('}');
    json.repeat(' ', Math.floorMod(-json.length(), 8));
    byte[] text = json.toString().getBytes(StandardCharsets.UTF_8);
    byte[] header = new byte[Long.BYTES + text.length];
    littleEndian(header).putLong(text.length).put(text);
    return header;
  }

  private static boolean startsWith(byte[] bytes, byte[] prefix) {
    return bytes.length >= prefix.length
        && Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length);
  }

  private static float[] floats(ByteBuffer bytes, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = bytes.getFloat();
    }
    return values;
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
