package io.troupe.run.compose;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Checkpoints with the shapes of published models, or with random weights of a tiny one. The file
 * of a large one's weights has a header and a hole: it takes no room on the disk.
 */
public final class ShapedCheckpoints {
  private static final Path TINY =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/parity/qwen3-tied");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int VOCABULARY = 151_936;
  private static final int HEAD = 128;
  private static final int KEY_HEADS = 8;

  /** ChatML with tools, as Qwen3 shows them, in short. */
  private static final String CHATML =
      """
      {%- if tools %}{{- '<|im_start|>system\\n' }}
      {%- for tool in tools %}{{- tool | tojson }}{%- endfor %}{{- '<|im_end|>\\n' }}{%- endif %}
      {%- for message in messages %}
      {%- if message.role == 'tool' %}
      {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
      {%- else %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
      {%- endif %}{%- endfor %}
      {%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}""";

  private ShapedCheckpoints() {}

  /** Shapes of a dense Qwen3, of which all have 8 key heads of 128. */
  private record Shape(int hidden, int layers, int heads, int feedForward, boolean tied) {}

  private static final Map<String, Shape> QWEN3 =
      Map.of(
          "Qwen/Qwen3-0.6B", new Shape(1024, 28, 16, 3072, true),
          "Qwen/Qwen3-1.7B", new Shape(2048, 28, 16, 6144, true),
          "Qwen/Qwen3-8B", new Shape(4096, 36, 32, 12_288, false));

  /** A tiny checkpoint with random weights, whose context is long enough for questions. */
  public static Path tiny(Path folder) throws IOException {
    copy(folder);
    Files.copy(TINY.resolve("model.safetensors"), folder.resolve("model.safetensors"));
    configure(folder, Map.of("max_position_embeddings", 2048));
    return folder;
  }

  /** The shapes of a model of the hub, with the tokenizer of the tiny one. */
  static Path of(String model, Path folder) throws IOException {
    Shape shape = QWEN3.get(model);
    if (shape == null) {
      throw new IOException("no shapes are known of " + model);
    }
    copy(folder);
    configure(
        folder,
        Map.of(
            "hidden_size", shape.hidden,
            "num_hidden_layers", shape.layers,
            "num_attention_heads", shape.heads,
            "num_key_value_heads", KEY_HEADS,
            "head_dim", HEAD,
            "intermediate_size", shape.feedForward,
            "vocab_size", VOCABULARY,
            "tie_word_embeddings", shape.tied,
            "max_position_embeddings", 40_960));
    write(folder.resolve("model.safetensors"), tensors(shape));
    return folder;
  }

  private static void copy(Path folder) throws IOException {
    for (String name :
        List.of(
            "config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json")) {
      Files.copy(TINY.resolve(name), folder.resolve(name));
    }
    Files.writeString(folder.resolve("chat_template.jinja"), CHATML);
  }

  private static void configure(Path folder, Map<String, Object> values) throws IOException {
    Path file = folder.resolve("config.json");
    ObjectNode config = (ObjectNode) JSON.readTree(file.toFile());
    values.forEach((key, value) -> config.set(key, JSON.valueToTree(value)));
    JSON.writeValue(file.toFile(), config);
  }

  private static Map<String, long[]> tensors(Shape s) {
    Map<String, long[]> tensors = new LinkedHashMap<>();
    int queries = s.heads * HEAD;
    int keys = KEY_HEADS * HEAD;
    tensors.put("model.embed_tokens.weight", new long[] {VOCABULARY, s.hidden});
    for (int layer = 0; layer < s.layers; layer++) {
      String name = "model.layers.%d.".formatted(layer);
      tensors.put(name + "self_attn.q_proj.weight", new long[] {queries, s.hidden});
      tensors.put(name + "self_attn.k_proj.weight", new long[] {keys, s.hidden});
      tensors.put(name + "self_attn.v_proj.weight", new long[] {keys, s.hidden});
      tensors.put(name + "self_attn.o_proj.weight", new long[] {s.hidden, queries});
      tensors.put(name + "self_attn.q_norm.weight", new long[] {HEAD});
      tensors.put(name + "self_attn.k_norm.weight", new long[] {HEAD});
      tensors.put(name + "mlp.gate_proj.weight", new long[] {s.feedForward, s.hidden});
      tensors.put(name + "mlp.up_proj.weight", new long[] {s.feedForward, s.hidden});
      tensors.put(name + "mlp.down_proj.weight", new long[] {s.hidden, s.feedForward});
      tensors.put(name + "input_layernorm.weight", new long[] {s.hidden});
      tensors.put(name + "post_attention_layernorm.weight", new long[] {s.hidden});
    }
    tensors.put("model.norm.weight", new long[] {s.hidden});
    if (!s.tied) {
      tensors.put("lm_head.weight", new long[] {VOCABULARY, s.hidden});
    }
    return tensors;
  }

  private static void write(Path file, Map<String, long[]> tensors) throws IOException {
    ObjectNode header = JSON.createObjectNode();
    long end = 0;
    for (Map.Entry<String, long[]> tensor : tensors.entrySet()) {
      long bytes = Short.BYTES * Arrays.stream(tensor.getValue()).reduce(1, Math::multiplyExact);
      ObjectNode entry = header.putObject(tensor.getKey());
      entry.put("dtype", "BF16");
      entry.set("shape", JSON.valueToTree(tensor.getValue()));
      entry.set("data_offsets", JSON.valueToTree(new long[] {end, end + bytes}));
      end += bytes;
    }
    byte[] json = header.toString().getBytes(StandardCharsets.UTF_8);
    int padded = Math.ceilDiv(json.length, Long.BYTES) * Long.BYTES;
    ByteBuffer start = ByteBuffer.allocate(Long.BYTES + padded).order(ByteOrder.LITTLE_ENDIAN);
    start.putLong(padded).put(json);
    while (start.hasRemaining()) {
      start.put((byte) ' ');
    }
    try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
      out.write(start.array());
      out.setLength(start.capacity() + end);
    }
  }
}
