package io.troupe.engine.http.fleet;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A Llama of one layer with random weights, in llama.cpp's GGUF (version 3, little endian): small
 * enough to be written before each test against a real llama-server. Its tokens are the characters
 * of ASCII that are seen, and the bytes of one that takes two, each of which is half a character.
 */
public final class TinyGguf {
  public static final int END = 2;

  /** The first byte of an umlaut in UTF-8, and the second of one. */
  public static final int FIRST_HALF = 4;

  static final int SECOND_HALF = 5;

  /** SentencePiece's form of a space. */
  private static final String SPACE = "\u2581";

  private static final int FIRST_CHARACTER = 6;
  public static final int VOCABULARY = FIRST_CHARACTER + '~' - ' ' + 1;

  private static final int MAGIC = 0x46554747; // "GGUF"
  private static final int VERSION = 3;
  private static final int ALIGNMENT = 32;
  private static final int WIDTH = 32;
  private static final int HEADS = 2;
  private static final int CONTEXT = 512;

  /** GGUF's types of values, and of tokens. */
  private static final int UINT32 = 4;

  private static final int INT32 = 5;
  private static final int FLOAT32 = 6;
  private static final int STRING = 8;
  private static final int ARRAY = 9;
  private static final int NORMAL_TOKEN = 1;
  private static final int UNKNOWN_TOKEN = 2;
  private static final int CONTROL_TOKEN = 3;
  private static final int BYTE_TOKEN = 6;

  private final ByteBuffer out = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);

  private TinyGguf() {}

  /** Writes a model with weights of a seed. */
  static void write(Path file, long seed) throws IOException {
    TinyGguf gguf = new TinyGguf();
    gguf.all(new Random(seed));
    Files.write(file, Arrays.copyOf(gguf.out.array(), gguf.out.position()));
  }

  private void all(Random random) {
    Map<String, int[]> tensors = new LinkedHashMap<>();
    tensors.put("token_embd.weight", new int[] {WIDTH, VOCABULARY});
    tensors.put("blk.0.attn_norm.weight", new int[] {WIDTH});
    for (String name : new String[] {"attn_q", "attn_k", "attn_v", "attn_output"}) {
      tensors.put("blk.0." + name + ".weight", new int[] {WIDTH, WIDTH});
    }
    tensors.put("blk.0.ffn_norm.weight", new int[] {WIDTH});
    for (String name : new String[] {"ffn_gate", "ffn_up", "ffn_down"}) {
      tensors.put("blk.0." + name + ".weight", new int[] {WIDTH, WIDTH});
    }
    tensors.put("output_norm.weight", new int[] {WIDTH});
    tensors.put("output.weight", new int[] {WIDTH, VOCABULARY});

    out.putInt(MAGIC).putInt(VERSION).putLong(tensors.size()).putLong(14);
    string("general.architecture", "llama");
    string("tokenizer.ggml.model", "llama");
    number("llama.context_length", CONTEXT);
    number("llama.embedding_length", WIDTH);
    number("llama.block_count", 1);
    number("llama.feed_forward_length", WIDTH);
    number("llama.attention.head_count", HEADS);
    number("llama.rope.dimension_count", WIDTH / HEADS);
    text("llama.attention.layer_norm_rms_epsilon");
    out.putInt(FLOAT32).putFloat(1e-5f);
    number("tokenizer.ggml.bos_token_id", 1);
    number("tokenizer.ggml.eos_token_id", END);
    vocabulary();

    long offset = 0;
    for (Map.Entry<String, int[]> tensor : tensors.entrySet()) {
      text(tensor.getKey());
      out.putInt(tensor.getValue().length);
      long size = Float.BYTES;
      for (int extent : tensor.getValue()) {
        out.putLong(extent);
        size *= extent;
      }
      out.putInt(0).putLong(offset); // type F32
      offset += size; // all sizes are multiples of the alignment
    }
    out.position((out.position() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    for (int[] shape : tensors.values()) {
      boolean norm = shape.length == 1;
      int size = norm ? shape[0] : shape[0] * shape[1];
      for (int i = 0; i < size; i++) {
        out.putFloat(norm ? 1 : (float) (random.nextGaussian() / Math.sqrt(WIDTH)));
      }
    }
  }

  private void vocabulary() {
    text("tokenizer.ggml.tokens");
    out.putInt(ARRAY).putInt(STRING).putLong(VOCABULARY);
    for (String special : List.of("<unk>", "<s>", "</s>", "<0x0A>", "<0xC3>", "<0xA4>")) {
      text(special);
    }
    for (char c = ' '; c <= '~'; c++) {
      text(c == ' ' ? SPACE : String.valueOf(c));
    }
    text("tokenizer.ggml.scores");
    out.putInt(ARRAY).putInt(FLOAT32).putLong(VOCABULARY);
    for (int i = 0; i < VOCABULARY; i++) {
      out.putFloat(0);
    }
    text("tokenizer.ggml.token_type");
    out.putInt(ARRAY).putInt(INT32).putLong(VOCABULARY);
    out.putInt(UNKNOWN_TOKEN).putInt(CONTROL_TOKEN).putInt(CONTROL_TOKEN);
    out.putInt(BYTE_TOKEN).putInt(BYTE_TOKEN).putInt(BYTE_TOKEN);
    for (char c = ' '; c <= '~'; c++) {
      out.putInt(NORMAL_TOKEN);
    }
  }

  private void string(String key, String value) {
    text(key);
    out.putInt(STRING);
    text(value);
  }

  private void number(String key, int value) {
    text(key);
    out.putInt(UINT32).putInt(value);
  }

  private void text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.putLong(bytes.length).put(bytes);
  }
}
