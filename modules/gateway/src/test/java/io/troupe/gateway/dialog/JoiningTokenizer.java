package io.troupe.gateway.dialog;

import io.troupe.engine.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A tokenizer whose tokens are the pieces of a pre-tokenizer of Qwen2, Qwen3 and Llama 3, which
 * joins punctuation with the line ends behind it, and of special tokens.
 */
final class JoiningTokenizer implements Tokenizer {
  static final List<String> SPECIAL =
      List.of(
          "<|im_start|>",
          "<|im_end|>",
          "<|endoftext|>",
          "<|start_header_id|>",
          "<|end_header_id|>",
          "<|eot_id|>");

  private static final Pattern SPELLED =
      Pattern.compile(String.join("|", SPECIAL.stream().map(Pattern::quote).toList()));
  private static final Pattern PIECE =
      Pattern.compile(
          "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
              + "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");

  private final List<String> pieces = new ArrayList<>(SPECIAL);

  private int id(String piece) {
    if (!pieces.contains(piece)) {
      pieces.add(piece);
    }
    return pieces.indexOf(piece);
  }

  static int special(String text) {
    return SPECIAL.indexOf(text);
  }

  @Override
  public int[] encode(String text) {
    return PIECE.matcher(text).results().mapToInt(each -> id(each.group())).toArray();
  }

  @Override
  public int[] encodeWithSpecial(String text) {
    List<Integer> ids = new ArrayList<>();
    Matcher special = SPELLED.matcher(text);
    int at = 0;
    while (special.find()) {
      for (int id : encode(text.substring(at, special.start()))) {
        ids.add(id);
      }
      ids.add(special(special.group()));
      at = special.end();
    }
    for (int id : encode(text.substring(at))) {
      ids.add(id);
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  public String decode(int[] tokens) {
    StringBuilder text = new StringBuilder();
    for (int token : tokens) {
      text.append(token < SPECIAL.size() ? "" : pieces.get(token));
    }
    return text.toString();
  }

  @Override
  public byte[] bytes(int token) {
    return decode(new int[] {token}).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public int vocabularySize() {
    return Integer.MAX_VALUE;
  }

  @Override
  public int endOfSequence() {
    return special("<|im_end|>");
  }

  @Override
  public Set<Integer> endIds() {
    return Set.of(special("<|im_end|>"), special("<|endoftext|>"), special("<|eot_id|>"));
  }
}
