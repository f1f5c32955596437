package io.troupe.app.config.binding;

import java.io.Serial;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
 * Reads the events of one YAML document into a {@link Tree}. Nothing is constructed from the text:
 * tags, anchors and aliases are refused, so that a file can neither name a class nor grow when
 * read, and the depth is limited.
 */
final class YamlReader {
  private static final int MAX_DEPTH = 16;

  private final Path file;
  private final Iterator<Event> events;
  private final List<Violation> violations;

  private YamlReader(Path file, Iterator<Event> events, List<Violation> violations) {
    this.file = file;
    this.events = events;
    this.violations = violations;
  }

  /**
   * Reads {@code text}, adding what is wrong to {@code violations}.
   *
   * @return the document's mapping; empty where the text is not YAML, or not a mapping
   */
  static Tree.Mapping read(Path file, String text, List<Violation> violations) {
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(text.length() + 1);
    YamlReader reader =
        new YamlReader(
            file, new Yaml(options).parse(new StringReader(text)).iterator(), violations);
    try {
      return reader.document();
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
      String problem = e.getProblem() == null ? "it cannot be parsed" : e.getProblem();
      violations.add(reader.wrong(line, "must be valid YAML: " + problem, "this line", "mend it"));
    } catch (YAMLException e) {
      violations.add(
          reader.wrong(1, "must be valid YAML: " + e.getMessage(), "this text", "mend it"));
    } catch (TooDeep e) {
      violations.add(
          reader.wrong(e.line, "must not nest deeper than " + MAX_DEPTH, "more", "flatten it"));
    }
    return reader.emptyDocument();
  }

  private Tree.Mapping document() {
    Tree.Mapping root = emptyDocument();
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
          Tree tree = tree(node, "", 0);
          if (tree instanceof Tree.Mapping mapping) {
            root = documents == 1 ? mapping : root;
          } else if (!(tree instanceof Tree.Scalar scalar && scalar.isNothing())) {
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

  private Tree tree(Event event, String path, int depth) {
    if (depth > MAX_DEPTH) {
      throw new TooDeep(line(event));
    }
    refuseMachinery(event);
    Origin origin = origin(event);
    return switch (event) {
      case MappingStartEvent _ -> mapping(origin, path, depth);
      case SequenceStartEvent _ -> {
        List<Tree> items = new ArrayList<>();
        for (Event next = events.next();
            !(next instanceof SequenceEndEvent);
            next = events.next()) {
          items.add(tree(next, path, depth + 1));
        }
        yield new Tree.Sequence(items, origin);
      }
      case ScalarEvent scalar -> new Tree.Scalar(scalar.getValue(), scalar.isPlain(), origin);
      default -> new Tree.Scalar("", true, origin); // an alias, refused above
    };
  }

  private Tree.Mapping mapping(Origin origin, String path, int depth) {
    List<Tree.Entry> entries = new ArrayList<>();
    Map<String, Integer> firstLines = new HashMap<>();
    for (Event next = events.next(); !(next instanceof MappingEndEvent); next = events.next()) {
      int line = line(next);
      Tree key = tree(next, path, depth + 1);
      String inner = key instanceof Tree.Scalar word ? Schema.join(path, word.text()) : path;
      Tree value = tree(events.next(), inner, depth + 1);
      if (!(key instanceof Tree.Scalar scalar)) {
        violations.add(wrong(line, "keys must be words", key.describe(), "name the key"));
        continue;
      }
      Integer first = firstLines.putIfAbsent(scalar.text(), line);
      if (first != null) {
        String rule = "must stand once in its section, but line %d has it too".formatted(first);
        violations.add(
            new Violation(origin(next), inner, rule, value.describe(), "remove one of the two"));
        continue;
      }
      entries.add(new Tree.Entry(scalar.text(), origin(next), value));
    }
    return new Tree.Mapping(entries, origin);
  }

  private void refuseMachinery(Event event) {
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

  private Tree.Mapping emptyDocument() {
    return new Tree.Mapping(List.of(), new Origin.Line(file, 1));
  }

  private Violation wrong(int line, String rule, String given, String advice) {
    return new Violation(new Origin.Line(file, line), "", rule, given, advice);
  }

  private Origin origin(Event event) {
    return new Origin.Line(file, line(event));
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
