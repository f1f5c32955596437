package io.troupe.chat.jinja;

import io.troupe.base.text.PythonText;
import io.troupe.chat.python.TemplateException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts a template into tokens, with the white space rules that chat templates are written for:
 * {@code trim_blocks} (removes the newline after a tag) and {@code lstrip_blocks} (removes the
 * indentation before a tag), besides the {@code -} and {@code +} marks.
 */
final class Lexer {
  private static final Pattern START = Pattern.compile("\\{\\{|\\{%|\\{#");
  private static final Pattern RAW = Pattern.compile("\\{%[-+]?\\s*raw\\s*-?%\\}");
  private static final Pattern END_RAW = Pattern.compile("\\{%([-+]?)\\s*endraw\\s*([-+]?)%\\}");
  private static final Pattern LEXEME =
      Pattern.compile(
          "(?<space>[\\s\\u0085\\p{Z}\\x1c-\\x1f]+)|(?<float>(?<!\\.)(?:\\d+_)*\\d+"
              + "(?:(?:\\.(?:\\d+_)*\\d+)?[eE][-+]?(?:\\d+_)*\\d+|\\.(?:\\d+_)*\\d+))"
              + "|(?<integer>0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[0-9a-fA-F])+"
              + "|[1-9](?:_?\\d)*|0(?:_?0)*)"
              + "|(?<name>[\\p{L}_][\\p{L}\\p{M}\\p{N}_]*)|(?<string>'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\")"
              + "|(?<operator>==|!=|<=|>=|//|\\*\\*|[-+*/%~<>=(){}\\[\\],.:|])",
          Pattern.DOTALL);

  private final String source;
  private final List<TemplateToken> tokens = new ArrayList<>();
  private int at;
  private int line = 1;
  private boolean lineStarts = true;

  private Lexer(String source) {
    this.source = source;
  }

  static List<TemplateToken> tokens(String template) {
    String source = template.replace("\r\n", "\n").replace('\r', '\n');
    Lexer lexer =
        new Lexer(source.endsWith("\n") ? source.substring(0, source.length() - 1) : source);
    lexer.run();
    return lexer.tokens;
  }

  private void run() {
    Matcher start = START.matcher(source);
    while (start.find(at)) {
      char kind = source.charAt(start.start() + 1);
      int inside = start.end();
      char mark = inside < source.length() ? source.charAt(inside) : ' ';
      String data = source.substring(at, start.start());
      data(kind, mark, data);
      if (kind == '#') {
        comment(inside);
      } else if (!raw(start.start())) {
        tag(kind, mark == '-' || mark == '+' ? inside + 1 : inside);
      }
    }
    add(TemplateToken.Kind.DATA, source.substring(at));
    add(TemplateToken.Kind.END, "");
  }

  /** Emits the text before a tag, without the white space that the tag strips. */
  private void data(char kind, char mark, String data) {
    String kept = data;
    if (mark == '-') {
      kept = PythonText.stripEnd(data);
    } else if (mark != '+' && kind != '{') {
      int lineStart = data.lastIndexOf('\n') + 1;
      if ((lineStart > 0 || lineStarts) && PythonText.isBlank(data.substring(lineStart))) {
        kept = data.substring(0, lineStart);
      }
    }
    add(TemplateToken.Kind.DATA, kept);
    line += newlines(data) - newlines(kept);
  }

  private void comment(int inside) {
    int end = source.indexOf("#}", inside);
    if (end < 0) {
      throw new TemplateException(line, "a comment has no end '#}'");
    }
    line += newlines(source.substring(inside, end));
    after(source.charAt(end - 1), end + 2, true);
  }

  /** Emits the content of a raw block if one begins at {@code from}. */
  private boolean raw(int from) {
    Matcher begin = RAW.matcher(source).region(from, source.length());
    if (!begin.lookingAt()) {
      return false;
    }
    Matcher end = END_RAW.matcher(source);
    if (!end.find(begin.end())) {
      throw new TemplateException(line, "'raw' has no 'endraw'");
    }
    after(source.charAt(begin.end() - 3), begin.end(), true);
    String content = source.substring(at, end.start());
    data('%', end.group(1).isEmpty() ? ' ' : end.group(1).charAt(0), content);
    after(end.group(2).isEmpty() ? ' ' : end.group(2).charAt(0), end.end(), true);
    return true;
  }

  private void tag(char kind, int inside) {
    boolean output = kind == '{';
    add(output ? TemplateToken.Kind.OUTPUT : TemplateToken.Kind.TAG, "");
    String close = output ? "}}" : "%}";
    Deque<Character> open = new ArrayDeque<>();
    int begun = line;
    at = inside;
    Matcher lexeme = LEXEME.matcher(source);
    while (at < source.length()) {
      if (open.isEmpty()) {
        char mark = source.charAt(at);
        int skip = mark == '-' || (mark == '+' && !output) ? 1 : 0;
        if (source.startsWith(close, at + skip)) {
          add(TemplateToken.Kind.CLOSE, "");
          after(mark, at + skip + close.length(), !output);
          return;
        }
      }
      if (!lexeme.region(at, source.length()).lookingAt()) {
        throw new TemplateException(line, "'%c' is not understood".formatted(source.charAt(at)));
      }
      lexeme(lexeme, open);
      at = lexeme.end();
    }
    throw new TemplateException(begun, "a tag has no end '%s'".formatted(close));
  }

  private void lexeme(Matcher lexeme, Deque<Character> open) {
    String text = lexeme.group();
    if (lexeme.group("space") != null) {
      line += newlines(text);
    } else if (lexeme.group("name") != null) {
      add(TemplateToken.Kind.NAME, text);
    } else if (lexeme.group("float") != null) {
      add(TemplateToken.Kind.FLOAT, text);
    } else if (lexeme.group("integer") != null) {
      add(TemplateToken.Kind.INTEGER, text);
    } else if (lexeme.group("string") != null) {
      tokens.add(
          new TemplateToken(TemplateToken.Kind.STRING, StringLiteral.value(text, line), line));
      line += newlines(text);
    } else {
      char first = text.charAt(0);
      if (first == '(' || first == '[' || first == '{') {
        open.push(first);
      } else if ((first == ')' || first == ']' || first == '}') && open.poll() == null) {
        throw new TemplateException(line, "'%s' closes nothing".formatted(text));
      }
      add(TemplateToken.Kind.OPERATOR, text);
    }
  }

  /** Continues after a tag that ended with {@code mark}. */
  private void after(char mark, int from, boolean block) {
    int to = from;
    if (mark == '-') {
      while (to < source.length() && PythonText.isSpace(source.charAt(to))) {
        to++;
      }
    } else if (block && mark != '+' && source.startsWith("\n", to)) {
      to++;
    }
    line += newlines(source.substring(from, to));
    lineStarts = to > 0 && source.charAt(to - 1) == '\n';
    at = to;
  }

  private static int newlines(String text) {
    return (int) text.chars().filter(c -> c == '\n').count();
  }

  private void add(TemplateToken.Kind kind, String text) {
    if (kind == TemplateToken.Kind.DATA) {
      if (!text.isEmpty()) {
        tokens.add(new TemplateToken(kind, text, line));
      }
      line += newlines(text);
    } else {
      tokens.add(new TemplateToken(kind, text, line));
    }
  }
}
