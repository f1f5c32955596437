package io.troupe.verifiers.code;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Extracts the program from a model's text. All rules take time linear in the length of the text;
 * the reference for each rule is the harness of the benchmark whose numbers are compared.
 *
 * @param code with line feeds only, and without a byte order mark
 * @param fenced whether the code was in a Markdown code block, so that the model itself wrote its
 *     end
 */
public record CodeExtraction(String code, boolean fenced) {
  private static final String FENCE = "```";
  private static final Set<String> PYTHON = Set.of("python", "py", "python3");

  private static final Pattern OPENING = Pattern.compile("(?m)^ {0,12}+(?:`{3,}|~{3,})|`{3,}");

  /** What may be before a fence on its line for the block to be part of a list's item. */
  private static final Pattern MARGIN = Pattern.compile(" *(?:(?:[-*+]|[0-9]{1,9}[.)]) +)?");

  /** As in CommonMark: more than that, and a fence is text of the block. */
  private static final int DEEPER = 3;

  private record Block(String language, String body, boolean closed) {}

  /**
   * The code of a completion: all blocks fenced as Python, joined by a blank line; else all other
   * fenced blocks; else the text up to a fence or to a line {@code [DONE]}.
   *
   * <p>A Python block that the end of the text cuts off counts: what follows may be short, but it
   * is what the model wrote.
   */
  public static CodeExtraction of(String completion) {
    String text = completion.startsWith("\ufeff") ? completion.substring(1) : completion;
    text = text.replace("\r\n", "\n").replace('\r', '\n');
    List<Block> blocks = blocks(text);
    List<String> python =
        blocks.stream().filter(b -> PYTHON.contains(b.language())).map(Block::body).toList();
    if (!python.isEmpty()) {
      return new CodeExtraction(String.join("\n\n", python), true);
    }
    List<String> closed = blocks.stream().filter(Block::closed).map(Block::body).toList();
    return closed.isEmpty()
        ? new CodeExtraction(unfenced(text), false)
        : new CodeExtraction(String.join("\n\n", closed), true);
  }

  /**
   * The fenced blocks of a text. A fence is three or more backticks, wherever they are, or three or
   * more tildes that begin a line; it ends at the next line that begins with as many, indented by
   * no more than {@link #DEEPER} beyond the first, so that a docstring may hold a fence. The
   * indentation of its first line is taken from all lines.
   */
  private static List<Block> blocks(String text) {
    List<Block> blocks = new ArrayList<>();
    Matcher opening = OPENING.matcher(text);
    int from = 0;
    while (opening.find(from)) {
      String fence = opening.group().strip();
      int indent = opening.group().length() - fence.length();
      int endOfLine = text.indexOf('\n', opening.end());
      if (endOfLine < 0) {
        break;
      }
      String info = text.substring(opening.end(), endOfLine).strip();
      if (info.contains("`")) {
        from = endOfLine;
        continue;
      }
      int end = closing(text, fence, endOfLine, margin(text, opening.end() - fence.length()));
      String body =
          text.substring(endOfLine + 1, Math.max(endOfLine + 1, end < 0 ? text.length() : end));
      String language = info.split("[\\s{]", 2)[0].toLowerCase(Locale.ROOT);
      blocks.add(new Block(language, dedented(body, indent), end >= 0));
      int behind = end < 0 ? -1 : text.indexOf('\n', end + 1);
      if (behind < 0) {
        break;
      }
      from = behind;
    }
    return blocks;
  }

  private static int margin(String text, int fence) {
    String before = text.substring(text.lastIndexOf('\n', fence - 1) + 1, fence);
    return MARGIN.matcher(before).matches() ? before.length() : 0;
  }

  /**
   * Index of the line feed before the line that ends a block, or of a fence within a line where no
   * line ends it; -1 if the text ends first.
   *
   * @param from the opening line's own line feed, so that a block may be empty
   * @param margin of the opening fence, in characters
   */
  private static int closing(String text, String fence, int from, int margin) {
    for (int line = from; line >= 0; line = text.indexOf('\n', line + 1)) {
      int start = line + 1;
      while (start < text.length() && text.charAt(start) == ' ') {
        start++;
      }
      if (start - line - 1 <= margin + DEEPER && text.startsWith(fence, start)) {
        return line;
      }
    }
    return text.indexOf(fence, from);
  }

  private static String dedented(String body, int indent) {
    return indent == 0 ? body : body.replaceAll("(?m)^ {1," + indent + "}", "");
  }

  private static String unfenced(String text) {
    String code = text;
    if (code.startsWith(FENCE)) {
      int endOfLine = code.indexOf('\n');
      code = endOfLine < 0 ? "" : code.substring(endOfLine + 1);
    }
    code = cutAt(code, "\n" + FENCE);
    code = code.startsWith("[DONE]") ? "" : cutAt(code, "\n[DONE]");
    for (String tail : List.of("[DONE]", FENCE)) {
      String stripped = code.stripTrailing();
      code =
          stripped.endsWith(tail) ? stripped.substring(0, stripped.length() - tail.length()) : code;
    }
    return code;
  }

  private static String cutAt(String text, String mark) {
    int at = text.indexOf(mark);
    return at < 0 ? text : text.substring(0, at);
  }

  /**
   * Returns the code before its second function or class at the left margin, and before the
   * decorators of that one: the first answer of a model that then writes another. Not the default,
   * because right answers may have helpers (three of MBPP's own solutions do).
   */
  public static String firstBlock(String code) {
    List<String> kept = new ArrayList<>();
    boolean seen = false;
    for (String line : code.split("\n", -1)) {
      if (startsDefinition(line)) {
        if (seen) {
          break;
        }
        seen = true;
      }
      kept.add(line);
    }
    if (kept.size() < code.split("\n", -1).length) {
      while (!kept.isEmpty() && (kept.getLast().isBlank() || kept.getLast().startsWith("@"))) {
        kept.removeLast();
      }
    }
    return String.join("\n", kept);
  }

  /**
   * The program of a completion that continues a prompt (HumanEval).
   *
   * <p>If the model wrote the function's signature again, its text replaces the prompt's function,
   * and only the prompt's imports and helpers stay. Else the text is the function's body: it ends
   * where something else begins at the left margin, and a margin that was stripped is restored.
   */
  public String continuing(String prompt, String entryPoint) {
    String head = prompt.replace("\r\n", "\n");
    List<String> lines = List.of(code.split("\n", -1));
    int signature = signatureOf(lines, entryPoint);
    if (signature < 0) {
      return head + body(lines);
    }
    List<String> promptLines = List.of(head.split("\n", -1));
    int own = signatureOf(promptLines, entryPoint);
    String before = String.join("\n", own < 0 ? promptLines : promptLines.subList(0, own));
    int end = fenced ? lines.size() : endOfBlock(lines, signature + 1);
    return before + "\n" + String.join("\n", lines.subList(0, end));
  }

  private static int signatureOf(List<String> lines, String entryPoint) {
    for (int i = lines.size() - 1; i >= 0; i--) {
      String line = lines.get(i);
      String rest = line.startsWith("async ") ? line.substring(6) : line;
      if (rest.startsWith("def " + entryPoint)
          && rest.substring(4 + entryPoint.length()).stripLeading().startsWith("(")) {
        return i;
      }
    }
    return -1;
  }

  private String body(List<String> lines) {
    int first = 0;
    while (first < lines.size() && lines.get(first).isBlank()) {
      first++;
    }
    if (first == lines.size()) {
      return "";
    }
    if (isIndented(lines.get(first))) {
      return String.join("\n", lines.subList(0, endOfBlock(lines, first + 1)));
    }
    List<String> rest = lines.subList(first + 1, lines.size());
    boolean marginLost =
        lines.get(first).stripTrailing().endsWith(":")
            || rest.stream().anyMatch(line -> !line.isBlank() && !isIndented(line));
    List<String> indented = new ArrayList<>();
    indented.add("    " + lines.get(first));
    rest.forEach(line -> indented.add(marginLost ? "    " + line : line));
    return String.join("\n", indented);
  }

  /** Index of the first line from {@code from} that begins another statement at the left margin. */
  private static int endOfBlock(List<String> lines, int from) {
    for (int i = from; i < lines.size(); i++) {
      String line = lines.get(i);
      if (startsDefinition(line)
          || line.startsWith("@")
          || line.startsWith("#")
          || line.startsWith("if ")
          || line.startsWith("print")) {
        return i;
      }
    }
    return lines.size();
  }

  private static boolean startsDefinition(String line) {
    return line.startsWith("def ") || line.startsWith("class ") || line.startsWith("async def ");
  }

  private static boolean isIndented(String line) {
    return line.startsWith(" ") || line.startsWith("\t");
  }
}
