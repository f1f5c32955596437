package io.troupe.verifiers.language;

import io.troupe.base.text.PythonText;
import java.util.List;
import java.util.Set;

/** Facts of English words: stop words, syllables, verbs. */
public final class EnglishWords {
  /** The 179 stop words that instruction checkers use. */
  private static final Set<String> STOP_WORDS =
      Set.copyOf(
          PythonText.split(
              """
              i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself
              yourselves he him his himself she she's her hers herself it it's its itself they them
              their theirs themselves what which who whom this that that'll these those am is are was
              were be been being have has had having do does did doing a an the and but if or because
              as until while of at by for with about against between into through during before after
              above below to from up down in out on off over under again further then once here there
              when where why how all any both each few more most other some such no nor not only own
              same so than too very s t can will just don don't should should've now d ll m o re ve y
              ain aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't haven
              haven't isn isn't ma mightn mightn't mustn mustn't needn needn't shan shan't shouldn
              shouldn't wasn wasn't weren weren't won won't wouldn wouldn't
              """));

  /** Verbs that answers to requests begin with, in their base form. */
  private static final Set<String> VERBS =
      Set.copyOf(
          PythonText.split(
              """
              accept achieve act adapt add address adjust adopt advance advise aim allow analyze answer
              apply approach ask assemble assess assign assist assume attend avoid bake balance be
              become begin believe blend boil book boost break breathe bring browse build buy calculate
              call can capture care carry celebrate challenge change check choose clean clear click
              climb close collect combine come communicate compare complete compose compute conduct
              confirm connect consider construct contact continue contribute convert cook could count
              cover create cultivate cut dance dare decide define deliver demonstrate describe design
              determine develop dig discover discuss dive divide do does did download draw dream drink
              drive eat educate embrace employ empower enable encourage engage enhance enjoy enrich
              ensure enter establish evaluate examine execute exercise expand expect experience explain
              explore express extend face feel fill find finish fix focus follow forget forgive gather
              get give go grab grow guide had handle has have hear heat help hire hold identify imagine
              implement improve include incorporate increase inspire install integrate introduce invest
              investigate invite is are was were join keep know launch lead learn leave let leverage
              limit list listen live locate look love maintain make manage maximize may measure meet
              mention might minimize mix monitor move must navigate need note notice observe obtain
              offer open optimize order organize overcome pack paint participate pay perform pick place
              plan play please pour practice preheat prepare present preserve press prevent prioritize
              promote protect prove provide publish purchase push put raise reach read realize receive
              recognize recommend reduce reflect regard relax remember remind remove repeat replace
              report research reset resolve respect respond rest return review rewrite ride rinse rise
              run save say schedule search see seek select sell send serve set shall share shop should
              show sign simmer simplify sing sit sleep slice solve sort speak spend spread sprinkle
              stand start stay stir stop store strengthen strive study submit subtract suggest summarize
              support suppose take talk taste teach tell test thank think toss track train transfer
              transform translate travel treat try turn understand unleash unlock unveil update use
              utilize verify view visit wait wake walk want wash watch wear welcome will win wish work
              would wrap write
              """));

  private EnglishWords() {}

  /** Whether a word in lower case is a stop word. */
  public static boolean isStopWord(String word) {
    return STOP_WORDS.contains(word);
  }

  /**
   * Whether a word is likely a verb where a text begins: a known base form, or an ending of -ing or
   * -ed. An approximation of what a tagger says.
   */
  public static boolean startsAsVerb(String word) {
    String lower = PythonText.lower(word);
    return VERBS.contains(lower)
        || (lower.length() > 5 && (lower.endsWith("ing") || lower.endsWith("ed")))
        || List.of("'s", "'re", "'m", "'ve").contains(lower);
  }

  /**
   * Returns the number of syllables of a word in lower case, at least one: its groups of vowels,
   * less a silent final e. An approximation of what a pronouncing dictionary says.
   */
  public static int syllables(String word) {
    int groups = 0;
    boolean inGroup = false;
    for (int i = 0; i < word.length(); i++) {
      boolean vowel = isVowel(word.charAt(i));
      groups += vowel && !inGroup ? 1 : 0;
      inGroup = vowel;
    }
    boolean silent =
        word.length() > 2
            && word.endsWith("e")
            && !isVowel(word.charAt(word.length() - 2))
            && !(word.endsWith("le") && !isVowel(word.charAt(word.length() - 3)));
    return Math.max(1, groups - (silent ? 1 : 0));
  }

  private static boolean isVowel(char c) {
    return "aeiouy".indexOf(c) >= 0;
  }
}
