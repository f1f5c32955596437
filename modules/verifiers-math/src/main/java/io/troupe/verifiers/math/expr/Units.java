package io.troupe.verifiers.math.expr;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What follows a value: a unit that is known, a noun that is counted, or words that change the
 * sense, such as a direction.
 *
 * <p>A known unit is a power of base units and a factor; {@code km/h} and kilometres per hour are
 * the same, and hours and minutes can be compared. Of other words only the words are known, so that
 * different ones are different answers.
 *
 * @param powers base units with their exponents
 * @param factor how much of the base units it is
 * @param nouns words that are no units, in the singular
 * @param senses words without which a value says something else
 */
public record Units(
    Map<String, Integer> powers, Rational factor, Set<String> nouns, Set<String> senses) {
  /** {@code ms^{-1}}: a millisecond has no negative power in an answer, a speed has. */
  private static final Pattern METRES_PER = Pattern.compile("\\bms \\^-");

  /** A word in the senses of an ordinal number. */
  private static final String ORDINAL = "th";

  public Units {
    powers = Map.copyOf(powers);
    nouns = Set.copyOf(nouns);
    senses = Set.copyOf(senses);
  }

  /** Whether symbols alone, as SI writes them, are a unit: {@code m}, {@code kHz}. */
  public static boolean isSymbols(String text) {
    return UnitTable.symbol(text).isPresent();
  }

  /** The pieces of a unit as one text. */
  public static String joined(List<String> pieces) {
    return String.join(" ", pieces);
  }

  /** Reads the pieces that {@link UnitReader} found. */
  public static Units of(String pieces) {
    Map<String, Integer> powers = new TreeMap<>();
    Rational factor = Rational.ONE;
    Set<String> nouns = new HashSet<>();
    Set<String> senses = new HashSet<>();
    StepBudget budget = new StepBudget();
    int next = 1;
    int sign = 1;
    List<String> words =
        new ArrayList<>(List.of(METRES_PER.matcher(pieces).replaceAll("m s ^-").split(" ", -1)));
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      String lower = word.toLowerCase(Locale.ROOT);
      switch (lower) {
        case "/", "per" -> sign = -1;
        case "*", "of", "the", "a", "an", "squared", "cubed" -> {}
        case "square", "sq" -> next = 2;
        case "cubic", "cu" -> next = 3;
        default -> {
          int power = sign * (next == 1 ? power(words, i) : next);
          UnitTable.Entry known = UnitTable.find(word).orElse(UnitTable.NONE);
          if (!known.equals(UnitTable.NONE)) {
            known.powers().forEach((base, e) -> powers.merge(base, e * power, Integer::sum));
            Rational scale =
                known
                    .factor()
                    .power(java.math.BigInteger.valueOf(Math.clamp(power, -9, 9)), budget);
            factor = factor.times(scale, budget);
          } else if (UnitTable.isSense(lower)) {
            senses.add(UnitTable.sense(lower));
          } else if (!lower.startsWith("^")) {
            nouns.add(singular(lower));
          }
          if (!lower.startsWith("^")) {
            next = 1;
            sign = 1;
          }
        }
      }
    }
    if (powers.containsKey("celsius") || powers.containsKey("fahrenheit")) {
      powers.remove("degree");
    }
    powers.values().removeIf(e -> e == 0);
    return new Units(powers, factor, nouns, senses);
  }

  private static int power(List<String> words, int at) {
    String next = at + 1 < words.size() ? words.get(at + 1) : "";
    return switch (next) {
      case "squared" -> 2;
      case "cubed" -> 3;
      default -> next.matches("\\^-?[0-9]") ? Integer.parseInt(next.substring(1)) : 1;
    };
  }

  private static String singular(String noun) {
    if (noun.equals("people")) {
      return "person";
    }
    if (noun.endsWith("ies") && noun.length() > 4) {
      return noun.substring(0, noun.length() - 3) + "y";
    }
    boolean hissing =
        noun.endsWith("shes")
            || noun.endsWith("ches")
            || noun.endsWith("xes")
            || noun.endsWith("sses");
    return hissing
        ? noun.substring(0, noun.length() - 2)
        : noun.endsWith("s") && !noun.endsWith("ss") && noun.length() > 3
            ? noun.substring(0, noun.length() - 1)
            : noun;
  }

  /** Whether a gold answer with this unit may be answered by a value alone. */
  public boolean isOptional() {
    return senses.isEmpty();
  }

  /** Whether an answer may add this unit to a gold answer that has none. */
  public boolean mayBeAdded() {
    return !senses.contains(ORDINAL);
  }

  /** Whether values with these units can be compared at all. */
  public boolean isLike(Units gold) {
    if (!senses.equals(gold.senses)) {
      return false;
    }
    boolean sameNouns = nouns.containsAll(gold.nouns) || gold.nouns.containsAll(nouns);
    if (!sameNouns || (nouns.isEmpty() != gold.nouns.isEmpty() && isBare() != gold.isBare())) {
      return false;
    }
    return powers.equals(gold.powers) || generic(gold) || gold.generic(this);
  }

  private boolean isBare() {
    return powers.isEmpty();
  }

  /** "Units", "square units": any unit of that dimension, or any noun. */
  private boolean generic(Units other) {
    int count = powers.getOrDefault("unit", 0);
    int length = other.powers.getOrDefault("m", 0);
    boolean one = count != 0 && powers.size() == 1;
    boolean lengths = length != 0 && other.powers.size() == 1;
    return one && (lengths ? length == count : count == 1 || other.isBare());
  }

  /** How many of the gold's units one of this is. */
  public Rational times(Units gold, StepBudget budget) {
    return powers.equals(gold.powers) ? factor.over(gold.factor, budget) : Rational.ONE;
  }

  /** Whether a value is a percentage. */
  public boolean isPercent() {
    return powers.equals(Map.of("percent", 1));
  }

  /** Whether a value is an angle in degrees. */
  public boolean isDegrees() {
    return powers.equals(Map.of("degree", 1)) && factor.equals(Rational.ONE);
  }
}
