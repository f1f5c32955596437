package io.troupe.verifiers.language;

import io.troupe.base.text.PythonText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Splits text into sentences by the Punkt algorithm (T. Kiss and J. Strunk, "Unsupervised
 * Multilingual Sentence Boundary Detection", Computational Linguistics 32, 2006), in the form NLTK
 * 3.8 gives it: only periods, question and exclamation marks that white space or punctuation
 * follows are candidates, and closing quotes and brackets stay with their sentence.
 *
 * <p>The algorithm is NLTK's, the parameters are ours: NLTK's English model states no licence. So
 * the sentences differ from NLTK's where they hang on what its newspaper corpus knows.
 */
public final class PunktSplitter {
  private static final PunktSplitter ENGLISH = new PunktSplitter(PunktModel.english());

  private final PunktModel model;

  private PunktSplitter(PunktModel model) {
    this.model = model;
  }

  /** English sentences. */
  public static PunktSplitter english() {
    return ENGLISH;
  }

  /** A stretch of text. */
  private record Span(int start, int end) {}

  /**
   * A mark that may end a sentence, after the word from {@code wordStart}.
   *
   * @param contextEnd end of what is read to decide: the punctuation or the word behind the mark
   * @param nextWord beginning of that word; empty if punctuation follows
   */
  private record Candidate(int wordStart, int mark, int contextEnd, Optional<Integer> nextWord) {}

  /** {@code nltk.sent_tokenize}. */
  public List<String> sentences(String text) {
    List<Span> spans = new ArrayList<>();
    int start = 0;
    for (Candidate candidate : candidates(text)) {
      if (breaks(text.substring(candidate.wordStart(), candidate.contextEnd()))) {
        spans.add(new Span(start, candidate.mark() + 1));
        start = candidate.nextWord().orElse(candidate.mark() + 1);
      }
    }
    spans.add(new Span(start, Math.max(start, PythonText.stripEnd(text).length())));
    return withClosers(text, spans);
  }

  /**
   * Returns the marks that may end a sentence; of marks whose words overlap, as in {@code ?!}, only
   * the last one.
   */
  private static List<Candidate> candidates(String text) {
    List<Candidate> found = new ArrayList<>();
    Optional<Candidate> previous = Optional.empty();
    int previousStart = 0;
    int previousEnd = 0;
    for (int i = 0; i < text.length(); i++) {
      Optional<Candidate> match = match(text, i);
      if (match.isEmpty()) {
        continue;
      }
      int space = lastSpace(text, previousEnd, i);
      int wordStart = space > previousEnd ? space + 1 : previousStart;
      if (previous.isPresent() && previousEnd <= wordStart) {
        found.add(previous.get());
      }
      previous =
          Optional.of(
              new Candidate(wordStart, i, match.get().contextEnd(), match.get().nextWord()));
      previousStart = wordStart;
      previousEnd = i;
    }
    previous.ifPresent(found::add);
    return found;
  }

  private static Optional<Candidate> match(String text, int i) {
    char c = text.charAt(i);
    if ((c != '.' && c != '?' && c != '!') || i + 1 == text.length()) {
      return Optional.empty();
    }
    if (PunktToken.isOutsideWords(text.charAt(i + 1))) {
      return Optional.of(new Candidate(i, i, i + 2, Optional.empty()));
    }
    int word = i + 1;
    while (word < text.length() && PythonText.isSpace(text.charAt(word))) {
      word++;
    }
    if (word == i + 1 || word == text.length()) {
      return Optional.empty();
    }
    int end = word;
    while (end < text.length() && !PythonText.isSpace(text.charAt(end))) {
      end++;
    }
    return Optional.of(new Candidate(i, i, end, Optional.of(word)));
  }

  /** The last ASCII white space in a stretch; its start if there is none. */
  private static int lastSpace(String text, int start, int end) {
    for (int i = end - 1; i > start; i--) {
      char c = text.charAt(i);
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
        return i;
      }
    }
    return start;
  }

  /** Whether a sentence ends before the last word of this context. */
  private boolean breaks(String context) {
    List<PunktToken> tokens = PunktToken.tokens(context);
    tokens.forEach(this::judgeByType);
    for (int i = 0; i + 1 < tokens.size(); i++) {
      judgeByContext(tokens.get(i), tokens.get(i + 1));
      if (tokens.get(i).endsSentence()) {
        return true;
      }
    }
    return false;
  }

  private void judgeByType(PunktToken token) {
    String text = token.text();
    if (text.equals(".") || text.equals("?") || text.equals("!")) {
      token.endSentence();
    } else if (token.endsInPeriod() && !text.endsWith("..")) {
      String word = PythonText.lower(text.substring(0, text.length() - 1));
      if (model.abbreviations().contains(word)
          || model.abbreviations().contains(word.substring(word.lastIndexOf('-') + 1))) {
        token.abbreviate();
      } else {
        token.endSentence();
      }
    }
  }

  private void judgeByContext(PunktToken token, PunktToken next) {
    if (!token.endsInPeriod()) {
      return;
    }
    String nextType = next.typeInSentence();
    if (model.collocations().contains(token.typeWithoutPeriod() + "\t" + nextType)) {
      token.abbreviateWithinSentence();
      return;
    }
    boolean initial = token.isInitial();
    Start start = start(next);
    if ((token.isAbbreviation() || token.isEllipsis())
        && !initial
        && (start == Start.YES || (next.startsUpper() && model.starters().contains(nextType)))) {
      token.endSentence();
      return;
    }
    if (initial || token.isOrdinal()) {
      boolean alwaysUpper =
          initial && next.startsUpper() && (model.context(nextType) & PunktModel.ANY_LOWER) == 0;
      if (start == Start.NO || (start == Start.UNKNOWN && alwaysUpper)) {
        token.abbreviateWithinSentence();
      }
    }
  }

  private enum Start {
    YES,
    NO,
    UNKNOWN
  }

  /** Whether a word starts a sentence, by the cases it was seen in. */
  private Start start(PunktToken token) {
    if (token.text().length() == 1 && ";:,.!?".contains(token.text())) {
      return Start.NO;
    }
    int context = model.context(token.typeInSentence());
    if (token.startsUpper()
        && (context & PunktModel.ANY_LOWER) != 0
        && (context & PunktModel.MIDDLE_UPPER) == 0) {
      return Start.YES;
    }
    boolean neverStartsLower =
        (context & PunktModel.ANY_UPPER) != 0 || (context & PunktModel.START_LOWER) == 0;
    return token.startsLower() && neverStartsLower ? Start.NO : Start.UNKNOWN;
  }

  /**
   * Moves closing quotes and brackets from the start of a sentence to the end of the one before.
   */
  private static List<String> withClosers(String text, List<Span> spans) {
    List<String> sentences = new ArrayList<>();
    int moved = 0;
    for (int i = 0; i < spans.size(); i++) {
      int start = spans.get(i).start() + moved;
      int end = spans.get(i).end();
      moved = 0;
      if (i + 1 < spans.size()) {
        Span next = spans.get(i + 1);
        int closers = closers(text, next);
        if (closers > 0) {
          end = next.start() + closers;
          moved = closers + spacesFrom(text, end, next.end());
        }
      }
      if (start < end) {
        sentences.add(text.substring(start, end));
      }
    }
    return sentences;
  }

  private static int closers(String text, Span span) {
    int i = span.start();
    while (i < span.end() && "\"')]}".indexOf(text.charAt(i)) >= 0) {
      i++;
      if (i == span.end()
          || PythonText.isSpace(text.charAt(i))
          || (text.startsWith("--", i) && i + 2 <= span.end())) {
        return i - span.start();
      }
    }
    return 0;
  }

  private static int spacesFrom(String text, int from, int end) {
    int i = from;
    while (i < end && PythonText.isSpace(text.charAt(i))) {
      i++;
    }
    return i - from;
  }
}
