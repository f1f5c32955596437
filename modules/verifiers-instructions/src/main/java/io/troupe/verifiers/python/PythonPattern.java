package io.troupe.verifiers.python;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.python.PatternNode.Characters;
import io.troupe.verifiers.python.PatternNode.Choice;
import io.troupe.verifiers.python.PatternNode.Kind;
import io.troupe.verifiers.python.PatternNode.Place;
import io.troupe.verifiers.python.PatternNode.Repeat;
import io.troupe.verifiers.python.PatternNode.Sequence;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * A regular expression with the meaning Python's {@code re} gives it, matched in time linear in the
 * text for each match found.
 *
 * <p>Keywords of instructions are regular expressions that come with the data, and the texts they
 * run over come from a policy that is paid for surprises. So there is no backtracking: all ways to
 * match advance together, one character at a time, in order of preference (R. Cox, "Regular
 * Expression Matching: the Virtual Machine Approach", 2009). The price is that look-around and back
 * references are refused.
 *
 * <p>Many matches can still cost more than linear time together, as each may look far beyond its
 * end. Steps are counted, not timed, so that a verdict does not depend on the machine.
 */
public final class PythonPattern {
  /** {@code re.IGNORECASE} and {@code re.MULTILINE}. */
  public enum Flag {
    IGNORE_CASE,
    MULTILINE
  }

  /** About a second; a thousand times what a long completion and a long keyword take. */
  static final long MOST_STEPS = 200_000_000;

  private static final int MOST_INSTRUCTIONS = 20_000;

  private enum Op {
    TAKE,
    CHECK,
    FORK,
    JUMP,
    MATCH
  }

  /** One instruction: {@code next} comes first, {@code other} only where it forks. */
  private static final class Step {
    private final Op op;
    private final IntPredicate set;
    private final Kind kind;
    private int next;
    private int other;

    private Step(Op op, IntPredicate set, Kind kind) {
      this.op = op;
      this.set = set;
      this.kind = kind;
    }
  }

  /** The beginning and the end of a match, in code points. */
  record Span(int start, int end) {}

  private final String pattern;
  private final int groups;
  private final List<Step> steps = new ArrayList<>();

  private PythonPattern(String pattern, int groups, PatternNode node) {
    this.pattern = pattern;
    this.groups = groups;
    emit(node);
    add(new Step(Op.MATCH, c -> false, Kind.TEXT_END));
  }

  /**
   * The pattern.
   *
   * @throws InvalidPatternException if it is none, or uses what is not supported
   */
  public static PythonPattern compile(String pattern, Flag... flags) {
    List<Flag> set = List.of(flags);
    PatternParser parser =
        new PatternParser(pattern, set.contains(Flag.IGNORE_CASE), set.contains(Flag.MULTILINE));
    PatternNode node = parser.parse();
    return new PythonPattern(pattern, parser.groups(), node);
  }

  /** {@code re.escape}, for a pattern around a word that is none. */
  public static String escape(String word) {
    StringBuilder escaped = new StringBuilder();
    word.codePoints()
        .forEach(
            c -> {
              if (c < 0x80 && !PythonText.isWord(c)) {
                escaped.append('\\');
              }
              escaped.appendCodePoint(c);
            });
    return escaped.toString();
  }

  /** Returns the number of groups that capture. */
  public int groups() {
    return groups;
  }

  /** {@code re.search} finds something. */
  public boolean isFoundIn(String text) {
    return new Search(text).next(0).isPresent();
  }

  /** The length of {@code re.findall}. */
  public int countIn(String text) {
    return new Search(text).all().size();
  }

  /** {@code re.findall} of a pattern without groups. */
  public List<String> findAll(String text) {
    Search search = new Search(text);
    return search.all().stream().map(search::text).toList();
  }

  /** {@code re.split} of a pattern without groups. */
  public List<String> split(String text) {
    Search search = new Search(text);
    List<String> parts = new ArrayList<>();
    int start = 0;
    for (Span span : search.all()) {
      parts.add(search.text(new Span(start, span.start())));
      start = span.end();
    }
    parts.add(search.text(new Span(start, search.points.length)));
    return parts;
  }

  private int add(Step step) {
    if (steps.size() == MOST_INSTRUCTIONS) {
      throw new InvalidPatternException("too many repeats", pattern);
    }
    step.next = steps.size() + 1;
    steps.add(step);
    return steps.size() - 1;
  }

  private int addFork() {
    return add(new Step(Op.FORK, c -> false, Kind.TEXT_END));
  }

  private void emit(PatternNode node) {
    switch (node) {
      case Characters(var set) -> add(new Step(Op.TAKE, set, Kind.TEXT_END));
      case Place(var kind) -> add(new Step(Op.CHECK, c -> false, kind));
      case Sequence(var parts) -> parts.forEach(this::emit);
      case Choice(var parts) -> emitChoice(parts);
      case Repeat repeat -> emitRepeat(repeat);
    }
  }

  private void emitChoice(List<PatternNode> parts) {
    List<Integer> exits = new ArrayList<>();
    for (PatternNode part : parts.subList(0, parts.size() - 1)) {
      int fork = addFork();
      emit(part);
      exits.add(add(new Step(Op.JUMP, c -> false, Kind.TEXT_END)));
      steps.get(fork).other = steps.size();
    }
    emit(parts.getLast());
    exits.forEach(exit -> steps.get(exit).next = steps.size());
  }

  private void emitRepeat(Repeat repeat) {
    for (int i = 0; i < repeat.least(); i++) {
      emit(repeat.part());
    }
    if (repeat.most() == PatternNode.UNBOUNDED) {
      int fork = addFork();
      emit(repeat.part());
      steps.get(add(new Step(Op.JUMP, c -> false, Kind.TEXT_END))).next = fork;
      steps.get(fork).other = steps.size();
      preferExit(fork, repeat.lazy());
    }
    List<Integer> forks = new ArrayList<>();
    for (int i = repeat.least(); i < repeat.most(); i++) {
      forks.add(addFork());
      emit(repeat.part());
    }
    for (int fork : forks) {
      steps.get(fork).other = steps.size();
      preferExit(fork, repeat.lazy());
    }
  }

  private void preferExit(int fork, boolean lazy) {
    if (lazy) {
      Step step = steps.get(fork);
      int next = step.next;
      step.next = step.other;
      step.other = next;
    }
  }

  /** The ways to match that are alive at one place, best first; none is there twice. */
  private final class Threads {
    private final int[] pcs = new int[steps.size()];
    private final int[] starts = new int[steps.size()];
    private final int[] seenAt = new int[steps.size()];
    private int size;
    private int generation;

    private void clear() {
      size = 0;
      generation++;
    }

    private boolean isNew(int pc) {
      boolean fresh = seenAt[pc] != generation;
      seenAt[pc] = generation;
      return fresh;
    }
  }

  /** A search over one text. */
  private final class Search {
    private final int[] points;
    private final int[] stack = new int[2 * PythonPattern.this.steps.size() + 2];
    private Threads here = new Threads();
    private Threads ahead = new Threads();
    private long taken;

    private Search(String text) {
      this.points = text.codePoints().toArray();
    }

    private String text(Span span) {
      return new String(points, span.start(), span.end() - span.start());
    }

    private List<Span> all() {
      List<Span> spans = new ArrayList<>();
      int from = 0;
      while (from <= points.length) {
        Optional<Span> span = next(from);
        if (span.isEmpty()) {
          break;
        }
        spans.add(span.get());
        from = span.get().end() + (span.get().end() == span.get().start() ? 1 : 0);
      }
      return spans;
    }

    /** The leftmost match from here on, of those the one that Python prefers. */
    private Optional<Span> next(int from) {
      Optional<Span> best = Optional.empty();
      here.clear();
      ahead.clear();
      for (int i = from; i <= points.length; i++) {
        if (best.isEmpty()) {
          follow(here, 0, i, i);
        }
        if (here.size == 0 && best.isPresent()) {
          break;
        }
        Optional<Span> found = advance(i);
        best = found.isPresent() ? found : best;
        Threads done = here;
        here = ahead;
        ahead = done;
        ahead.clear();
      }
      return best;
    }

    /** Takes one character; a match ends all ways that are less preferred. */
    private Optional<Span> advance(int i) {
      for (int t = 0; t < here.size; t++) {
        Step step = steps.get(here.pcs[t]);
        if (step.op == Op.MATCH) {
          return Optional.of(new Span(here.starts[t], i));
        }
        if (i < points.length && step.set.test(points[i])) {
          follow(ahead, step.next, i + 1, here.starts[t]);
        }
      }
      return Optional.empty();
    }

    private void follow(Threads threads, int first, int i, int start) {
      int depth = 0;
      stack[depth++] = first;
      while (depth > 0) {
        int pc = stack[--depth];
        if (++taken > MOST_STEPS) {
          throw new TooManyStepsException(pattern);
        }
        if (!threads.isNew(pc)) {
          continue;
        }
        Step step = steps.get(pc);
        switch (step.op) {
          case TAKE, MATCH -> {
            threads.pcs[threads.size] = pc;
            threads.starts[threads.size++] = start;
          }
          case CHECK -> {
            if (holds(step.kind, i)) {
              stack[depth++] = step.next;
            }
          }
          case JUMP -> stack[depth++] = step.next;
          case FORK -> {
            stack[depth++] = step.other;
            stack[depth++] = step.next;
          }
        }
      }
    }

    private boolean holds(Kind kind, int i) {
      int n = points.length;
      return switch (kind) {
        case TEXT_START -> i == 0;
        case TEXT_END -> i == n;
        case LAST_LINE_END -> i == n || (i == n - 1 && points[i] == '\n');
        case LINE_START -> i == 0 || points[i - 1] == '\n';
        case LINE_END -> i == n || points[i] == '\n';
        case WORD_BOUNDARY -> isBoundary(i);
        case NO_WORD_BOUNDARY -> !isBoundary(i);
      };
    }

    private boolean isBoundary(int i) {
      boolean before = i > 0 && PythonText.isWord(points[i - 1]);
      boolean behind = i < points.length && PythonText.isWord(points[i]);
      return before != behind;
    }
  }
}
