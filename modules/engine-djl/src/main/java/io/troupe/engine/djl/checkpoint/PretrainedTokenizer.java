package io.troupe.engine.djl.checkpoint;

import static io.troupe.core.Require.require;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.prompt.ThoughtMarks;
import io.troupe.engine.LossyUtf8;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.torch.Torch;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The tokenizer of a Hugging Face checkpoint, tokenizer.json, with the byte-level pieces of the
 * Qwen and Llama 3 families. The tokenizers library encodes, through DJL; decoding joins the bytes
 * of pieces, as that library does.
 */
public final class PretrainedTokenizer implements Tokenizer {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FILE = "tokenizer.json";
  private static final byte[] NOTHING = {};

  private final HuggingFaceTokenizer encoder;
  private final byte[][] pieces;
  private final Set<Integer> thoughtMarks;
  private final Map<Integer, String> spellings;
  private final Pattern special;
  private final int longestSpecial;
  private final Set<Integer> endIds;
  private final String textStart;
  private final List<String> notes;

  private PretrainedTokenizer(
      HuggingFaceTokenizer encoder,
      byte[][] pieces,
      Set<Integer> thoughtMarks,
      Map<Integer, String> spellings,
      Pattern special,
      Set<Integer> endIds,
      String textStart,
      List<String> notes) {
    this.encoder = encoder;
    this.pieces = pieces;
    this.thoughtMarks = thoughtMarks;
    this.spellings = Map.copyOf(spellings);
    this.special = special;
    this.longestSpecial = special.pattern().length();
    this.endIds = endIds;
    this.textStart = textStart;
    this.notes = List.copyOf(notes);
  }

  /**
   * Reads tokenizer.json of a directory, and loads the native library the first time.
   *
   * @param vocabulary ids of the model, at least as many as the tokenizer's
   * @param endIds ids that end a completion; if empty, tokenizer_config.json's eos_token
   * @throws IOException if a file is missing, or of an unsupported kind
   */
  public static PretrainedTokenizer read(Path directory, int vocabulary, List<Integer> endIds)
      throws IOException {
    Path file = directory.resolve(FILE);
    if (!Files.exists(file)) {
      throw new IOException(
          "%s is missing; make it with the tokenizer's save_pretrained of transformers"
              .formatted(file));
    }
    JsonNode json = json(file);
    String decoder = json.path("decoder").path("type").asText();
    if (!decoder.equals("ByteLevel")) {
      throw new IOException(
          "%s has the decoder '%s'; only ByteLevel, of the Qwen and Llama 3 families, is read"
              .formatted(file, decoder));
    }
    byte[][] pieces = pieces(file, json, vocabulary);
    Set<Integer> ends = new LinkedHashSet<>(endIds);
    if (ends.isEmpty()) {
      ends.add(configuredEnd(directory, json));
    }
    for (int id : ends) {
      if (id < 0 || id >= vocabulary) {
        throw new IOException(
            "%s: eos_token_id %d is none of the model's %d ids"
                .formatted(directory, id, vocabulary));
      }
    }
    HuggingFaceTokenizer encoder = encoder(file);
    PretrainedTokenizer tokenizer =
        new PretrainedTokenizer(
            encoder,
            pieces,
            thoughtMarks(json, pieces),
            spellings(json),
            specialTexts(json),
            Collections.unmodifiableSet(ends),
            textStart(encoder, json),
            notes(file, json));
    tokenizer.checkSpecial(file, json);
    tokenizer.readNormalized(json);
    return tokenizer;
  }

  /** The library numbers added tokens by itself, and only warns where the file has other ids. */
  private void checkSpecial(Path file, JsonNode json) throws IOException {
    for (JsonNode added : json.path("added_tokens")) {
      int[] ids = ids(encoded(added.path("content").asText()));
      int expected = added.path("id").asInt();
      if (added.path("special").asBoolean() && (ids.length != 1 || ids[0] != expected)) {
        throw new IOException(
            "%s gives %s the id %d, but the tokenizers library reads it as %s"
                .formatted(file, added.path("content").asText(), expected, Arrays.toString(ids)));
      }
    }
  }

  /**
   * The text of an added token that is looked for in normalized text is its normalized spelling.
   * Only the library can normalize; it has that spelling as the token of the encoded text.
   */
  private void readNormalized(JsonNode json) {
    for (JsonNode added : json.path("added_tokens")) {
      if (added.path("normalized").asBoolean() && !added.path("special").asBoolean()) {
        Encoding encoding = encoded(added.path("content").asText());
        int id = added.path("id").asInt();
        if (id < pieces.length && Arrays.equals(encoding.getIds(), new long[] {id})) {
          pieces[id] = ByteLevelAlphabet.bytes(encoding.getTokens()[0]);
        }
      }
    }
  }

  private static List<String> notes(Path file, JsonNode json) {
    double dropout = json.path("model").path("dropout").asDouble(0);
    return dropout > 0
        ? List.of(
            "%s has a dropout of %s: texts are encoded at random, so prompts and training examples differ from process to process; set model.dropout to null"
                .formatted(file, dropout))
        : List.of();
  }

  /** Returns what a user should know of the tokenizer, a sentence each. */
  List<String> notes() {
    return notes;
  }

  /**
   * Returns the tokens that the post-processor puts before a text, found by encoding one letter.
   */
  private static String textStart(HuggingFaceTokenizer encoder, JsonNode json) {
    Map<Integer, String> texts = spellings(json);
    StringBuilder start = new StringBuilder();
    for (long id : encoder.encode("a", true, false).getIds()) {
      String text = texts.get(Math.toIntExact(id));
      if (text == null) {
        break;
      }
      start.append(text);
    }
    return start.toString();
  }

  /** Returns the texts of special tokens by their ids. */
  private static Map<Integer, String> spellings(JsonNode json) {
    Map<Integer, String> texts = new HashMap<>();
    for (JsonNode added : json.path("added_tokens")) {
      if (added.path("special").asBoolean()) {
        texts.put(added.path("id").asInt(), added.path("content").asText());
      }
    }
    return texts;
  }

  private static HuggingFaceTokenizer encoder(Path file) throws IOException {
    Torch.offline();
    System.setProperty("RUST_FLAVOR", "cpu");
    Map<String, String> options =
        Map.of("addSpecialTokens", "false", "truncation", "false", "padding", "false");
    try {
      return HuggingFaceTokenizer.newInstance(file, options);
    } catch (
        RuntimeException
            failure) { // the binding has no exception type of its own for errors from Rust
      throw new IOException(
          "%s was not taken by the tokenizers library: %s".formatted(file, failure.getMessage()),
          failure);
    }
  }

  private static JsonNode json(Path file) throws IOException {
    try {
      return JSON.readTree(Files.readAllBytes(file));
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(file), failure);
    }
  }

  /** Returns bytes by id; no bytes for special tokens and for ids of the model without text. */
  private static byte[][] pieces(Path file, JsonNode json, int vocabulary) throws IOException {
    byte[][] pieces = new byte[vocabulary][];
    Arrays.fill(pieces, NOTHING);
    for (Map.Entry<Long, String> entry : TokenizerVocabulary.ofModel(json).entrySet()) {
      long id = entry.getKey();
      if (id < 0 || id >= vocabulary) {
        throw new IOException(
            "%s has the id %d, but config.json has a vocab_size of %d"
                .formatted(file, id, vocabulary));
      }
      pieces[(int) id] = ByteLevelAlphabet.bytes(entry.getValue());
    }
    for (JsonNode added : json.path("added_tokens")) {
      int id = added.path("id").asInt(-1);
      if (id >= 0 && id < vocabulary) { // a text with another one is refused when it is encoded
        boolean isSpecial = added.path("special").asBoolean();
        pieces[id] = isSpecial ? NOTHING : ByteLevelAlphabet.bytes(added.path("content").asText());
      }
    }
    return pieces;
  }

  /** Gives the special tokens that mark thoughts their texts, and returns their ids. */
  private static Set<Integer> thoughtMarks(JsonNode json, byte[][] pieces) {
    Map<String, Integer> special = new HashMap<>();
    spellings(json)
        .forEach(
            (id, text) -> {
              if (id >= 0 && id < pieces.length) {
                special.put(text, id);
              }
            });
    Set<Integer> ids = new HashSet<>();
    for (String text : ThoughtMarks.partsAmong(special.keySet())) {
      int id = Objects.requireNonNull(special.get(text));
      pieces[id] = text.getBytes(StandardCharsets.UTF_8);
      ids.add(id);
    }
    return Set.copyOf(ids);
  }

  private static int configuredEnd(Path directory, JsonNode json) throws IOException {
    Path file = directory.resolve("tokenizer_config.json");
    if (Files.exists(file)) {
      JsonNode end = json(file).path("eos_token");
      String text = end.path("content").asText(end.asText());
      for (JsonNode added : json.path("added_tokens")) {
        if (added.path("content").asText().equals(text)) {
          return added.path("id").asInt();
        }
      }
    }
    throw new IOException(
        "%s names no end of a text: generation_config.json and config.json have no eos_token_id, and"
                .formatted(directory)
            + " tokenizer_config.json no eos_token among the added tokens");
  }

  /** Returns a pattern that matches the spelling of a special token, the longest first. */
  private static Pattern specialTexts(JsonNode json) {
    List<String> texts = new ArrayList<>(spellings(json).values());
    texts.removeIf(String::isEmpty);
    texts.sort(Comparator.comparingInt(String::length).reversed());
    String any = texts.stream().map(Pattern::quote).collect(Collectors.joining("|"));
    // Most characters begin none: a set of first characters is faster than the alternatives.
    String first =
        texts.stream()
            .mapToInt(text -> text.codePointAt(0))
            .distinct()
            .mapToObj("\\x{%x}"::formatted)
            .collect(Collectors.joining());
    return Pattern.compile(texts.isEmpty() ? "(?!)" : "(?=[%s])(?:%s)".formatted(first, any));
  }

  /**
   * Returns the ids of a text. Where the text spells a special token, it is cut behind the first
   * character of that spelling and the two parts are encoded on their own, so that data cannot end
   * a turn.
   */
  @Override
  public int[] encode(String text) {
    return encodeWithSpecial(literal(text));
  }

  @Override
  public String literal(String text) {
    Matcher spelled = special.matcher(text);
    if (!spelled.find()) {
      return text;
    }
    StringBuilder marked = new StringBuilder();
    int from = 0;
    do {
      int cut = text.offsetByCodePoints(spelled.start(), 1);
      marked.append(text, from, cut).append(LITERAL);
      from = cut;
    } while (spelled.find(from));
    return marked.append(text, from, text.length()).toString();
  }

  @Override
  public int[] encodeWithSpecial(String text) {
    int mark = text.indexOf(LITERAL);
    if (mark < 0) {
      return whole(text);
    }
    List<int[]> parts = new ArrayList<>();
    int from = 0;
    for (; mark >= 0; mark = text.indexOf(LITERAL, mark + 1)) {
      if (marksSpelling(text, mark)) {
        parts.add(whole(text.substring(from, mark)));
        from = mark + 1;
      }
    }
    parts.add(whole(text.substring(from)));
    return parts.stream().flatMapToInt(Arrays::stream).toArray();
  }

  /** Whether a special token is spelled around a mark; elsewhere the mark is a character. */
  private boolean marksSpelling(String text, int mark) {
    if (mark == 0) {
      return false;
    }
    int from = text.offsetByCodePoints(mark, -1);
    String spelled =
        text.substring(from, mark)
            + text.substring(mark + 1, Math.min(text.length(), mark + 1 + longestSpecial));
    return special.matcher(spelled).lookingAt();
  }

  private int[] whole(String text) {
    if (text.isEmpty()) {
      return new int[0];
    }
    Encoding encoding = encoded(text);
    int[] ids = ids(encoding);
    for (int i = 0; i < ids.length; i++) {
      require(
          ids[i] < pieces.length,
          "the token '%s' at position %d has the id %d, and config.json has a vocab_size of %d;"
              + " leave it out of the text, or resize the model's embeddings",
          encoding.getTokens()[i],
          encoding.getCharTokenSpans()[i].getStart(),
          ids[i],
          pieces.length);
    }
    return ids;
  }

  private Encoding encoded(String text) {
    return encoder.encode(text, false, false);
  }

  private static int[] ids(Encoding encoding) {
    return Arrays.stream(encoding.getIds()).mapToInt(Math::toIntExact).toArray();
  }

  @Override
  public String textStart() {
    return textStart;
  }

  @Override
  public String decode(int[] tokens) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    for (int token : tokens) {
      text.writeBytes(piece(token));
    }
    return LossyUtf8.text(text.toByteArray());
  }

  @Override
  public byte[] bytes(int token) {
    return piece(token).clone();
  }

  private byte[] piece(int token) {
    require(
        token >= 0 && token < pieces.length,
        "token %d is no id of this tokenizer; ids lie in [0, %d]",
        token,
        pieces.length - 1);
    return pieces[token];
  }

  @Override
  public boolean isSpecial(int token) {
    return Tokenizer.super.isSpecial(token) || thoughtMarks.contains(token);
  }

  @Override
  public String spelling(int token) {
    return spellings.getOrDefault(token, "");
  }

  @Override
  public int vocabularySize() {
    return pieces.length;
  }

  @Override
  public int endOfSequence() {
    return endIds.iterator().next();
  }

  @Override
  public Set<Integer> endIds() {
    return endIds;
  }
}
