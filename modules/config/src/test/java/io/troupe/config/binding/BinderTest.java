package io.troupe.config.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.troupe.config.schema.Blanks;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.config.schema.Variant;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class BinderTest {
  enum Colour {
    RED,
    DARK_BLUE
  }

  @Variant(key = "kind", defaultsTo = "circle", meaning = "The shape.")
  sealed interface Figure {
    @Doc("Round.")
    record Circle(@Doc("From the centre.") @Default("2") int radius) implements Figure {}

    @Doc("Four sides.")
    record Square(@Doc("Of each.") int side, @Doc("How dark.") @Default("3") int shade)
        implements Figure {
      public Square {
        if (side > 100) {
          throw new IllegalArgumentException("a side is at most 100, not " + side);
        }
      }
    }
  }

  record Pen(
      @Doc("How wide.") @Default("0.5") @Range(min = 0, minExclusive = true, max = 9) double width,
      @Doc("Which colour.") @Default("dark_blue") Colour colour,
      @Doc("Until it is dry.") @Default("1500ms") @Range(min = 1) Duration drying)
      implements Validated {
    @Override
    public void check(RuleChecker rules) {
      rules
          .on("width", "drying")
          .require(
              () -> width < drying.toSeconds(),
              "must be below drying (%d s)".formatted(drying.toSeconds()),
              "take a thinner one");
    }
  }

  record Drawing(
      @Doc("Its name.") String title,
      @Doc("Copies.") @Default("1") @Range(min = 1) int copies,
      @Doc("Of the noise.") @Default("-5") long seed,
      @Doc("Whether it is framed.") @Default("false") boolean framed,
      @Doc("Where it comes from.") @Default("in.png") @RelativeToFile Path source,
      @Doc("Words about it.") @Blanks List<String> tags,
      @Doc("What draws.") Pen pen,
      @Doc("What is drawn.") Figure figure) {}

  private static final Path FILE = Path.of("/folder/drawing.yaml");

  private static Drawing draw(String yaml, String... overrides) {
    return resolve(yaml, overrides).config();
  }

  private static ResolvedConfig<Drawing> resolve(String yaml, String... overrides) {
    return ConfigurationFile.bind(Drawing.class, FILE, yaml, List.of(overrides));
  }

  private static List<String> violations(String yaml, String... overrides) {
    ConfigurationException refused =
        catchThrowableOfType(ConfigurationException.class, () -> draw(yaml, overrides));
    assertThat(refused).as("the configuration should be refused").isNotNull();
    return refused.violations().stream().map(ConfigViolation::toString).toList();
  }

  @Test
  void bind_onlyTheRequiredKey_fillsInEveryDefault() {
    assertThat(draw("title: a"))
        .isEqualTo(
            new Drawing(
                "a",
                1,
                -5,
                false,
                Path.of("in.png").toAbsolutePath(),
                List.of(),
                new Pen(0.5, Colour.DARK_BLUE, Duration.ofMillis(1500)),
                new Figure.Circle(2)));
  }

  @Test
  void bind_everyType_givesItsValue() {
    String yaml =
        """
        title: "a: \\"b\\" é"
        copies: 1_000
        seed: 9223372036854775807
        framed: true
        source: sub/../x.png
        tags: [one, 'two words']
        pen:
          width: 1e-3
          colour: red
          drying: 2.5m
        figure: {kind: square, side: 7}
        """;

    assertThat(draw(yaml))
        .isEqualTo(
            new Drawing(
                "a: \"b\" é",
                1000,
                Long.MAX_VALUE,
                true,
                Path.of("/folder/x.png"),
                List.of("one", "two words"),
                new Pen(0.001, Colour.RED, Duration.ofSeconds(150)),
                new Figure.Square(7, 3)));
  }

  @Test
  void yaml_ofEveryType_loadsToTheSameRecords() {
    ResolvedConfig<Drawing> resolved =
        resolve(
            """
            title: "a: \\"b\\"\\t# é"
            tags: [x, 'y, z', '7']
            figure: {kind: square, side: 7}""");

    ResolvedConfig<Drawing> again =
        ConfigurationFile.bind(
            Drawing.class, Path.of("/other/resolved.yaml"), resolved.yaml(), List.of());

    assertThat(again.config()).isEqualTo(resolved.config());
  }

  @Test
  void violations_ofManyKinds_areAllListedInOrderOfLines() {
    String yaml =
        """
        copies: 0
        copies: 2
        seed: 1.5
        framed: yes
        titel: b
        tags: one
        pen:
          width: 0
          colour: green
          drying: 5
        figure:
          kind: square
          radius: 3
        """;

    assertThat(violations(yaml, "pen.color=red", "nonsense"))
        .containsExactly(
            "/folder/drawing.yaml:1: title: is required, given nothing; add it: a text",
            "/folder/drawing.yaml:1: copies: must be 1 or greater, given 0; change it, or remove it"
                + " for the default, 1",
            "/folder/drawing.yaml:2: copies: must be once in its section, but line 1 has it too,"
                + " given 2; remove one of the two",
            "/folder/drawing.yaml:3: seed: must be a whole number, given 1.5; change it, or remove"
                + " it for the default, -5",
            "/folder/drawing.yaml:4: framed: must be true or false, given yes; change it, or remove"
                + " it for the default, false",
            "/folder/drawing.yaml:5: titel: is not a key of the configuration, given b; did you"
                + " mean title?",
            "/folder/drawing.yaml:6: tags: must be a list of a text, given one; write it as [a, b]",
            "/folder/drawing.yaml:8: pen.width: must be from 0 (excluded) to 9, given 0; change it,"
                + " or remove it for the default, 0.5",
            "/folder/drawing.yaml:9: pen.colour: must be one of red, dark_blue, given green; change"
                + " it, or remove it for the default, dark_blue",
            "/folder/drawing.yaml:10: pen.drying: must be a duration such as 250ms, 60s, 5m or 2h,"
                + " given 5; change it, or remove it for the default, 1500ms",
            "/folder/drawing.yaml:11: figure.side: is required, given nothing; add it: a whole"
                + " number below 2^31",
            "/folder/drawing.yaml:13: figure.radius: belongs to kind: circle, and square was"
                + " chosen, given 3; remove it, or set kind to circle",
            "--set nonsense: must be path=value, given nonsense; write for example --set"
                + " training.steps=100",
            "--set pen.color=red: pen.color: is not a key of pen, given red; did you mean colour?");
  }

  @Test
  void violations_textOfAMegabyte_isCutInTheMessage() {
    String megabyte = "x".repeat(1_000_000);
    assertThat(
            violations(
                "title: a\nseed: " + megabyte + "\n" + megabyte.substring(0, 1000) + ": 1",
                "copies=" + megabyte))
        .hasSize(3)
        .allSatisfy(line -> assertThat(line).hasSizeLessThan(700).contains("xxx…"));
  }

  @Test
  void bind_overrides_winOverTheFileAndTheLastOverTheEarlier() {
    ResolvedConfig<Drawing> resolved =
        resolve(
            "title: a\ncopies: 2",
            "copies=3",
            "copies=4",
            "figure.radius=9",
            "tags=[u, v]",
            "source=y");

    assertThat(resolved.config().copies()).isEqualTo(4);
    assertThat(resolved.config().figure()).isEqualTo(new Figure.Circle(9));
    assertThat(resolved.config().tags()).containsExactly("u", "v");
    assertThat(resolved.config().source()).isEqualTo(Path.of("y").toAbsolutePath());
    assertThat(resolved.values())
        .contains(
            new ResolvedConfig.Value("title", "a", new ValueOrigin.Line(FILE, 1)),
            new ResolvedConfig.Value("copies", "4", new ValueOrigin.CommandLine("copies=4")),
            new ResolvedConfig.Value("figure.kind", "circle", new ValueOrigin.Default()),
            new ResolvedConfig.Value("seed", "-5", new ValueOrigin.Default()));
  }

  static List<Arguments> lists() {
    return List.of(
        arguments("[\"\\n\\n\"]", List.of("\n\n")),
        arguments("[\"\\n\", '\\n', \\n]", List.of("\n", "\\n", "\\n")),
        arguments("[\"a, b\", c]", List.of("a, b", "c")),
        arguments("['it''s', \"\\u00e9\\t\"]", List.of("it's", "é\t")),
        arguments("[ \"</answer>\" ,Q ]", List.of("</answer>", "Q")),
        arguments("[\"]\", \"[\"]", List.of("]", "[")),
        arguments("[http://a:80, C:\\x]", List.of("http://a:80", "C:\\x")),
        arguments("[]", List.of()));
  }

  /** Lists of the command line are as in a file, whatever they hold. */
  @ParameterizedTest
  @MethodSource("lists")
  void bind_listOnTheCommandLine_isReadAsInAFile(String list, List<String> items) {
    ResolvedConfig<Drawing> resolved = resolve("title: a", "tags=" + list);
    assertThat(resolved.config().tags()).isEqualTo(items);
    assertThat(draw("title: a\ntags: " + list).tags()).isEqualTo(items);
    assertThat(draw(resolved.yaml()).tags()).isEqualTo(items);
  }

  static List<Arguments> texts() {
    return List.of(
        arguments("\"a\\tb\"", "a\tb"),
        arguments("'a\\tb'", "a\\tb"),
        arguments("a\\tb", "a\\tb"),
        arguments("it's: {x} #1", "it's: {x} #1"),
        arguments("{question}", "{question}"),
        arguments("[0-9]+", "[0-9]+"),
        arguments("*a", "*a"),
        arguments("\"7\"", "7"));
  }

  @ParameterizedTest
  @MethodSource("texts")
  void bind_textOnTheCommandLine_isThatTextUnlessItIsQuoted(String typed, String text) {
    ResolvedConfig<Drawing> resolved = resolve("title: a", "title=" + typed);
    assertThat(resolved.config().title()).isEqualTo(text);
    assertThat(draw(resolved.yaml()).title()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tags=[\"a]", "tags=[a, [b]", "title=\"a\" or \"b\"", "tags=[&x a]"})
  void violations_ofAnOverrideThatIsNoYaml_nameIt(String override) {
    assertThat(violations("title: a", override))
        .first(InstanceOfAssertFactories.STRING)
        .startsWith("--set " + override + ": must ");
  }

  @Test
  void violations_ofAnOverride_nameIt() {
    assertThat(violations("title: a", "copies=0"))
        .containsExactly(
            "--set copies=0: copies: must be 1 or greater, given 0; change it, or remove it for the"
                + " default, 1");
  }

  @Test
  void violations_ruleBetweenKeys_standAtTheLineOfItsKey() {
    assertThat(violations("title: a\npen:\n  drying: 2s\n  width: 9\n"))
        .containsExactly(
            "/folder/drawing.yaml:4: pen.width: must be below drying (2 s), given 9; take a thinner"
                + " one");
  }

  @Test
  void violations_ruleBesideAnUnrelatedViolation_isJudgedToo() {
    assertThat(violations("title: a\ncopies: 0\npen: {width: 9, drying: 2s}"))
        .containsExactly(
            "/folder/drawing.yaml:2: copies: must be 1 or greater, given 0; change it, or remove it"
                + " for the default, 1",
            "/folder/drawing.yaml:3: pen.width: must be below drying (2 s), given 9; take a thinner"
                + " one");
  }

  @Test
  void violations_constructorThatRefuses_standAtItsSection() {
    assertThat(violations("title: a\nfigure:\n  kind: square\n  side: 101"))
        .containsExactly(
            "/folder/drawing.yaml:2: figure: a side is at most 100, not 101, given these values;"
                + " change one of them");
  }

  @Test
  void violations_ruleWhoseKeysAreWrong_isNotJudged() {
    assertThat(violations("title: a\npen:\n  width: 8\n  drying: 0s"))
        .singleElement()
        .asString()
        .contains("pen.drying");
  }

  @ParameterizedTest
  @CsvSource({
    "tilte, did you mean title?",
    "colour, did you mean pen.colour?",
    "zzzzzzz, 'remove it, or choose from title, copies, seed, framed, source, tags, pen, figure'"
  })
  void violations_unknownKey_suggestWhatWasMeant(String key, String advice) {
    assertThat(violations("title: a\n" + key + ": 1"))
        .singleElement()
        .asString()
        .isEqualTo(
            "/folder/drawing.yaml:2: %s: is not a key of the configuration, given 1; %s"
                .formatted(key, advice));
  }

  @ParameterizedTest
  @CsvSource({"010", "0x10", "1e3", "2147483648", "''", "~", "'\"7\"'", "[7]", "{a: 7}", "-0.0"})
  void violations_notAWholeNumber_areRefused(String text) {
    assertThat(violations("title: a\ncopies: " + text)).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({"nan", ".inf", "1e999", "1.2.3", "0x1p3", "1d"})
  void violations_notANumber_areRefused(String text) {
    assertThat(violations("title: a\npen: {width: " + text + "}")).hasSize(1);
  }

  @Test
  void violations_yamlMachinery_isRefused() {
    String yaml = "title: &x a\ntags: [*x]\nseed: !!int 5\n";

    assertThat(violations(yaml))
        .containsExactly(
            "/folder/drawing.yaml:1: must not use anchors, aliases or tags, given an anchor or"
                + " alias; write the value itself",
            "/folder/drawing.yaml:2: must not use anchors, aliases or tags, given an anchor or"
                + " alias; write the value itself",
            "/folder/drawing.yaml:3: must not use anchors, aliases or tags, given a tag; write the"
                + " value itself");
  }

  @Test
  void violations_brokenYaml_nameTheLine() {
    assertThat(violations("title: a\ncopies: [1\nseed: 2"))
        .singleElement()
        .asString()
        .startsWith("/folder/drawing.yaml:3: must be valid YAML: ");
  }

  @Test
  void violations_deepNesting_isRefusedWithoutReadingOn() {
    assertThat(violations("title: " + "[".repeat(10_000)))
        .containsExactly(
            "/folder/drawing.yaml:1: must not nest deeper than 16, given more; flatten it");
  }

  @Test
  void violations_secondDocumentOrNoMapping_areRefused() {
    assertThat(violations("title: a\n---\ntitle: b"))
        .containsExactly(
            "/folder/drawing.yaml:2: must hold one document, given a second one; remove it");
    assertThat(violations("- a"))
        .containsExactly(
            "/folder/drawing.yaml:1: must be a mapping of sections, given a list; write sections"
                + " such as 'training:'");
  }

  @Test
  void violations_emptyFile_nameWhatIsRequired() {
    assertThat(violations(""))
        .containsExactly(
            "/folder/drawing.yaml:1: title: is required, given nothing; add it: a text");
  }

  @Test
  void load_missingFile_saysSo() {
    ConfigurationException refused =
        catchThrowableOfType(
            ConfigurationException.class,
            () -> ConfigurationFile.load(Drawing.class, Path.of("no/such.yaml"), List.of()));

    assertThat(refused)
        .hasMessage(
            "no/such.yaml:1: must exist, given no such file; check the path, or see conf/ for"
                + " examples");
  }
}
