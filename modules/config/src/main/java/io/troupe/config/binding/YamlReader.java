package io.troupe.config.binding;

import io.troupe.config.schema.Schema;
import java.io.Serial;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.events.AliasEvent;
import org.yaml.snakeyaml.events.CollectionStartEvent;
import org.yaml.snakeyaml.events.DocumentEndEvent;
import org.yaml.snakeyaml.events.DocumentStartEvent;
import org.yaml.snakeyaml.events.Event;
import org.yaml.snakeyaml.events.MappingEndEvent;
import org.yaml.snakeyaml.events.MappingStartEvent;
import org.yaml.snakeyaml.events.NodeEvent;
import org.yaml.snakeyaml.events.ScalarEvent;
import org.yaml.snakeyaml.events.SequenceEndEvent;
import org.yaml.snakeyaml.events.SequenceStartEvent;
import org.yaml.snakeyaml.events.StreamStartEvent;

/**
 * Reads the events of one YAML document into a {@link ConfigTree}. Nothing is constructed from the
 * text: tags, anchors and aliases are refused, so that a file can neither name a class nor grow
 * when read, and the depth is limited.
 */
final class YamlReader {
  private static final int MAX_DEPTH = 16;

  private final IntFunction<ValueOrigin> origins;
  private final Iterator<Event> events;
  private final List<ConfigViolation> violations;

  private YamlReader(
      IntFunction<ValueOrigin> origins, String text, List<ConfigViolation> violations) {
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(text.length() + 1);
    this.origins = origins;
    this.events = new Yaml(options).parse(new StringReader(text)).iterator();
    this.violations = violations;
  }

  /**
   * Reads {@code text}, adding what is wrong to {@code violations}.
   *
   * @return the document's mapping; empty where the text is not YAML, or not a mapping
   */
  static ConfigTree.Mapping read(Path file, String text, List<ConfigViolation> violations) {
    YamlReader reader = new YamlReader(line -> new ValueOrigin.Line(file, line), text, violations);
    return reader.guarded(reader::document).orElseGet(reader::emptyDocument);
  }

  /**
   * Reads a value that was written at one place, adding what is wrong to {@code violations}.
   *
   * @param path of its key
   * @return empty where the text is not YAML, or holds no value
   */
  static Optional<ConfigTree> value(
      String path, String text, ValueOrigin origin, List<ConfigViolation> violations) {
    YamlReader reader = new YamlReader(_ -> origin, text, violations);
    return reader.guarded(() -> reader.only(path)).flatMap(Function.identity());
  }

  /** Returns what a reading returns; empty where it adds to the violations why it cannot. */
  private <T> Optional<T> guarded(Supplier<T> reading) {
    try {
      return Optional.of(reading.get());
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
      String problem = e.getProblem() == null ? "it cannot be parsed" : e.getProblem();
      violations.add(wrong(line, "must be valid YAML: " + problem, "this line", "mend it"));
    } catch (YAMLException e) {
      violations.add(wrong(1, "must be valid YAML: " + e.getMessage(), "this text", "mend it"));
    } catch (TooDeep e) {
      violations.add(wrong(e.line, "must not nest deeper than " + MAX_DEPTH, "more", "flatten it"));
    }
    return Optional.empty();
  }

  private Optional<ConfigTree> only(String path) {
    Optional<ConfigTree> only = Optional.empty();
    while (events.hasNext()) {
      if (events.next() instanceof NodeEvent node) {
        only = Optional.of(tree(node, path, 0));
      }
    }
    return only;
  }

  private ConfigTree.Mapping document() {
    ConfigTree.Mapping root = emptyDocument();
    int documents = 0;
    while (events.hasNext()) {
      Event event = events.next();
      switch (event) {
        case StreamStartEvent _, DocumentEndEvent _ -> {}
        case DocumentStartEvent start -> {
          documents++;
          if (documents == 2) {
            violations.add(
                wrong(line(start), "must hold one document", "a second one", "remove it"));
          }
        }
        case NodeEvent node -> {
          ConfigTree tree = tree(node, "", 0);
          if (tree instanceof ConfigTree.Mapping mapping) {
            root = documents == 1 ? mapping : root;
          } else if (!(tree instanceof ConfigTree.Scalar scalar && scalar.isNothing())) {
            violations.add(
                wrong(
                    line(event),
                    "must be a mapping of sections",
                    tree.describe(),
                    "write sections such as 'training:'"));
          }
        }
        default -> {}
      }
    }
    return root;
  }

  private ConfigTree tree(Event event, String path, int depth) {
    if (depth > MAX_DEPTH) {
      throw new TooDeep(line(event));
    }
    refuseTagsAndAnchors(event);
    ValueOrigin origin = origin(event);
    return switch (event) {
      case MappingStartEvent _ -> mapping(origin, path, depth);
      case SequenceStartEvent _ -> {
        List<ConfigTree> items = new ArrayList<>();
        for (Event next = events.next();
            !(next instanceof SequenceEndEvent);
            next = events.next()) {
          items.add(tree(next, path, depth + 1));
        }
        yield new ConfigTree.Sequence(items, origin);
      }
      case ScalarEvent scalar -> new ConfigTree.Scalar(scalar.getValue(), scalar.isPlain(), origin);
      default -> new ConfigTree.Scalar("", true, origin); // an alias, refused above
    };
  }

  private ConfigTree.Mapping mapping(ValueOrigin origin, String path, int depth) {
    List<ConfigTree.Entry> entries = new ArrayList<>();
    Map<String, Integer> firstLines = new HashMap<>();
    for (Event next = events.next(); !(next instanceof MappingEndEvent); next = events.next()) {
      int line = line(next);
      ConfigTree key = tree(next, path, depth + 1);
      String inner = key instanceof ConfigTree.Scalar word ? Schema.join(path, word.text()) : path;
      ConfigTree value = tree(events.next(), inner, depth + 1);
      if (!(key instanceof ConfigTree.Scalar scalar)) {
        violations.add(wrong(line, "keys must be words", key.describe(), "name the key"));
        continue;
      }
      Integer first = firstLines.putIfAbsent(scalar.text(), line);
      if (first != null) {
        String rule = "must be once in its section, but line %d has it too".formatted(first);
        violations.add(
            new ConfigViolation(
                origin(next), inner, rule, value.describe(), "remove one of the two"));
        continue;
      }
      entries.add(new ConfigTree.Entry(scalar.text(), origin(next), value));
    }
    return new ConfigTree.Mapping(entries, origin);
  }

  private void refuseTagsAndAnchors(Event event) {
    boolean tagged =
        switch (event) {
          case ScalarEvent scalar -> scalar.getTag() != null;
          case CollectionStartEvent collection -> collection.getTag() != null;
          default -> false;
        };
    boolean anchored = event instanceof NodeEvent node && node.getAnchor() != null;
    if (event instanceof AliasEvent || anchored || tagged) {
      violations.add(
          wrong(
              line(event),
              "must not use anchors, aliases or tags",
              tagged ? "a tag" : "an anchor or alias",
              "write the value itself"));
    }
  }

  private ConfigTree.Mapping emptyDocument() {
    return new ConfigTree.Mapping(List.of(), origins.apply(1));
  }

  private ConfigViolation wrong(int line, String rule, String given, String advice) {
    return new ConfigViolation(origins.apply(line), "", rule, given, advice);
  }

  private ValueOrigin origin(Event event) {
    return origins.apply(line(event));
  }

  private static int line(Event event) {
    return event.getStartMark().getLine() + 1;
  }

  /** Ends the reading of a document that nests too deep. */
  private static final class TooDeep extends RuntimeException {
    @Serial private static final long serialVersionUID = 1;
    private final int line;

    TooDeep(int line) {
      super("too deep", null, false, false);
      this.line = line;
    }
  }
}
