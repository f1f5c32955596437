package io.troupe.verifiers.math.expr;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The units that are known, and the words behind a number that are no units. */
public final class UnitTable {
  /** A unit as a factor of base units. */
  public record Entry(Map<String, Integer> powers, Rational factor) {}

  public static final Entry NONE = new Entry(Map.of(), Rational.ZERO);

  /** Base units, a factor, symbols (their case counts), a bar, and words. */
  private static final String[] ROWS = {
    "m 1 m | meter metre",
    "m 0.0254 in inch | inch inches",
    "m 0.3048 ft | foot feet",
    "m 0.9144 yd | yard",
    "m 1609.344 mi | mile",
    "m2 10000 ha | hectare",
    "m2 4046.8564224 | acre",
    "g 1 g gm gr | gram gramme",
    "g 453.59237 lb lbs | pound",
    "g 28.349523125 oz | ounce",
    "g 1000000 t | ton tonne",
    "s 1 s sec secs | second",
    "s 60 min mins | minute",
    "s 3600 h hr hrs | hour",
    "s 86400 d | day",
    "s 604800 wk | week",
    "month 1 mo | month",
    "month 12 yr yrs | year",
    "m3 0.001 L l | liter litre",
    "m3 0.003785411784 gal | gallon",
    "A 1 A amp amps | ampere",
    "K 1 K | kelvin",
    "mol 1 mol | mole",
    "g:1m:1s:-2 1000 N | newton",
    "g:1m:2s:-2 1000 J | joule",
    "g:1m:2s:-3 1000 W | watt",
    "g:1m:2s:-3A:-1 1000 V | volt",
    "g:1m:2s:-3A:-2 1000 Ω \\Omega | ohm",
    "g:1m:-1s:-2 1000 Pa | pascal",
    "A:1s:1 1 C | coulomb",
    "s:-1 1 Hz | hertz",
    "m:1s:-1 0.44704 mph |",
    "m:1s:-1 0.2777777777777777777777777778 kph kmph |",
    "bit 8 B | byte",
    "bit 1 | bit",
    "cal 1 cal | calorie",
    "eV 1 eV |",
    "dollar 1 $ USD | dollar buck",
    "dollar 0.01 ct | cent",
    "euro 1 € EUR | euro",
    "pound 1 GBP |",
    "rupee 1 Rs INR | rupee",
    "yen 1 JPY | yen",
    "yuan 1 CNY RMB | yuan",
    "won 1 KRW | won",
    "ruble 1 | ruble rouble",
    "degree 1 deg | degree",
    "radian 1 rad | radian",
    "celsius 1 | celsius centigrade",
    "fahrenheit 1 | fahrenheit",
    "percent 1 % pct | percent percentage",
    "unit 1 | unit"
  };

  private static final String[] PREFIXES = {
    "k 1000 kilo",
    "c 0.01 centi",
    "m 0.001 milli",
    "d 0.1 deci",
    "M 1000000 mega",
    "G 1000000000 giga",
    "μ 0.000001 micro",
    "n 0.000000001 nano",
    "T 1000000000000 tera"
  };

  private static final Set<String> PREFIXED =
      Set.of(
          "m", "g", "s", "L", "l", "A", "mol", "N", "J", "W", "V", "Ω", "Pa", "Hz", "B", "cal",
          "eV", "C");

  private static final Map<String, String> SENSES =
      Map.ofEntries(
          Map.entry("a.m", "am"),
          Map.entry("p.m", "pm"),
          Map.entry("bce", "bc"),
          Map.entry("ce", "ad"),
          Map.entry("st", "th"),
          Map.entry("nd", "th"),
          Map.entry("rd", "th"),
          Map.entry("anticlockwise", "counterclockwise"),
          Map.entry("upward", "up"),
          Map.entry("upwards", "up"),
          Map.entry("downward", "down"),
          Map.entry("downwards", "down"),
          Map.entry("forwards", "forward"),
          Map.entry("backwards", "backward"));

  private static final Set<String> SENSE_WORDS =
      Set.of(
          ("am pm bc ad th north south east west northeast northwest southeast southwest left right"
                  + " up down above below before after early late earlier later ago hence clockwise"
                  + " counterclockwise forward backward inward outward gain loss profit deficit"
                  + " surplus increase decrease rise fall older younger taller shorter longer faster"
                  + " slower fewer heavier lighter ahead behind inside outside won lost")
              .split(" ", -1));

  /** Words after which a number is another number, or no answer. */
  private static final Set<String> CLAIMS =
      Set.of(
          ("not no none wrong incorrect false true except mod modulo less more greater least most"
                  + " about approximately base if when where times plus minus maybe perhaps or and"
                  + " but than over divided isn't remainder otherwise for doubled tripled"
                  + " twice is are was were will has have can must always never even odd prime"
                  + " factorial to nor unless only negative positive first last past")
              .split(" ", -1));

  /** Nouns of three letters, which would be products elsewhere. */
  private static final Set<String> SHORT_NOUNS =
      Set.of(
          ("way ways man men boy boys dog dogs cat cats cow cows hen hens pig pigs egg eggs cup"
                  + " cups pen pens pie pies toy toys car cars cap caps can cans bag bags box bus jar"
                  + " jars key keys kid kids row rows set sets ant ants bee bees fox hat hats red blue"
                  + " won tie ties win wins")
              .split(" ", -1));

  private static final Map<String, Entry> SYMBOLS = new HashMap<>();
  private static final Map<String, Entry> WORDS = new HashMap<>();

  static {
    for (String row : ROWS) {
      read(row);
    }
  }

  private UnitTable() {}

  private static void read(String row) {
    int bar = row.indexOf('|');
    String[] left = row.substring(0, bar).strip().split(" ", -1);
    Rational factor = rational(left[1]);
    Map<String, Integer> powers = new HashMap<>();
    if (left[0].indexOf(':') < 0) {
      boolean squared = left[0].equals("m2") || left[0].equals("m3");
      powers.put(squared ? "m" : left[0], squared ? left[0].charAt(1) - '0' : 1);
    } else {
      for (String part : left[0].split("(?<=[0-9])(?=[A-Za-z])", -1)) {
        int colon = part.indexOf(':');
        powers.put(part.substring(0, colon), Integer.parseInt(part.substring(colon + 1)));
      }
    }
    Entry entry = new Entry(powers, factor);
    for (String symbol : List.of(left).subList(2, left.length)) {
      SYMBOLS.put(symbol, entry);
      if (PREFIXED.contains(symbol)) {
        prefixed(symbol, entry, SYMBOLS, 0);
      }
    }
    for (String word : row.substring(bar + 1).strip().split(" ", -1)) {
      if (!word.isEmpty()) {
        WORDS.put(word, entry);
        WORDS.put(word + "s", entry);
        prefixed(word, entry, WORDS, 2);
      }
    }
  }

  private static void prefixed(String name, Entry entry, Map<String, Entry> into, int spelling) {
    for (String prefix : PREFIXES) {
      String[] parts = prefix.split(" ", -1);
      Entry scaled =
          new Entry(entry.powers, entry.factor.times(rational(parts[1]), new StepBudget()));
      into.putIfAbsent(parts[spelling] + name, scaled);
      if (spelling == 2) {
        into.putIfAbsent(parts[spelling] + name + "s", scaled);
      }
    }
  }

  private static Rational rational(String decimal) {
    BigDecimal value = new BigDecimal(decimal);
    return Rational.of(value.unscaledValue())
        .over(
            Rational.of(10).power(java.math.BigInteger.valueOf(value.scale()), new StepBudget()),
            new StepBudget());
  }

  /** A unit by its symbol, whose case counts. */
  public static Optional<Entry> symbol(String text) {
    return Optional.ofNullable(SYMBOLS.get(text));
  }

  /** A unit by its symbol or its name. */
  public static Optional<Entry> find(String word) {
    Entry symbol = SYMBOLS.get(word);
    if (symbol != null) {
      return Optional.of(symbol);
    }
    String lower = word.toLowerCase(Locale.ROOT);
    Entry named = WORDS.get(lower);
    Entry small = lower.length() > 1 && !PREFIXED.contains(lower) ? SYMBOLS.get(lower) : null;
    boolean plain = small != null && lower.length() > 2;
    return Optional.ofNullable(
        named != null
            ? named
            : plain || "ft in cm mm km kg mg ml lb oz hr".contains(lower) ? small : null);
  }

  public static boolean isSense(String word) {
    return SENSE_WORDS.contains(sense(word));
  }

  public static String sense(String word) {
    return SENSES.getOrDefault(word, word);
  }

  public static boolean isClaim(String word) {
    return CLAIMS.contains(word)
        || NumberWords.scale(word).isPresent()
        || NumberWords.denominator(word).isPresent();
  }

  /** Whether a plain word of few letters is no product behind a number. */
  public static boolean isShortWord(String word) {
    String lower = word.toLowerCase(Locale.ROOT);
    return word.length() > 1
        && (find(word).isPresent()
            || isSense(lower)
            || SHORT_NOUNS.contains(lower)
            || lower.equals("sq"));
  }
}
