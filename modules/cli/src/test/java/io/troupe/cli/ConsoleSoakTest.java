package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import io.troupe.run.compose.TestRuns;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A browser stays on the console of a run: neither side may continue growing. It takes the minutes
 * that {@code -Dtroupe.console.soak=MINUTES} gives it, and none without; {@code
 * -Dtroupe.console.soak.delay} is the toy policy's time a token, which sets the pace.
 *
 * <p>What both sides keep is bounded by number: 20,000 steps' metrics, and events and groups in
 * rings that fill within minutes. The last third is held against the middle one, with an allowance
 * for steps that were added to those kept.
 */
@EnabledIfSystemProperty(named = "troupe.console.soak", matches = "[0-9.]+")
final class ConsoleSoakTest {
  private static final int LOOKS = 60;
  private static final double GROWTH = 1.1;
  private static final int KEPT_STEPS = 20_000;
  private static final double BROWSER_STEP_MB = 0.002;
  private static final double SERVER_STEP_MB = 0.004;
  private static final List<String> PAGES =
      List.of(
          "",
          "learning",
          "groups",
          "staleness",
          "weights",
          "nodes",
          "waits",
          "history",
          "provenance");

  @TempDir private Path folder;

  /** Both sides at one moment, after a collection of garbage. */
  private record Look(
      double minutes,
      double steps,
      double events,
      double heapMb,
      double elements,
      double listeners,
      double serverHeapMb,
      double serverThreads,
      double connections) {
    String line() {
      return String.format(
          Locale.ROOT,
          "%6.1f min %,7.0f steps %,10.0f events | browser %6.1f MB %7.0f nodes %6.0f listeners |"
              + " server %6.1f MB %4.0f threads %3.0f connections",
          minutes,
          steps,
          events,
          heapMb,
          elements,
          listeners,
          serverHeapMb,
          serverThreads,
          connections);
    }
  }

  @Test
  void page_leftOpen_growsOnNeitherSide() throws Exception {
    double minutes = Double.parseDouble(System.getProperty("troupe.console.soak"));
    String config =
        TestRuns.write(
            folder,
            TestRuns.TOY
                .replace("steps: 8", "steps: 100000000")
                .replace("every: 4", "every: 0")
                .replace("every: 2", "every: 500")
                .replace(
                    "token_delay: 1ms",
                    "token_delay: " + System.getProperty("troupe.console.soak.delay", "5ms")));
    try (ChildRun run = ChildRun.train(folder, ChildRun.Size.DJL, config, "console.port=0");
        Playwright playwright =
            Playwright.create(
                new Playwright.CreateOptions()
                    .setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        Browser browser =
            playwright
                .chromium()
                .launch(
                    new BrowserType.LaunchOptions()
                        .setExecutablePath(Path.of("/usr/bin/chromium"))
                        .setArgs(List.of("--no-sandbox")))) {
      String url = run.awaitConsole();
      run.awaitOut(3);
      Page page = browser.newPage();
      page.navigate(url);
      CDPSession inspector = page.context().newCDPSession(page);
      inspector.send("Performance.enable");
      List<Look> looks = new ArrayList<>();
      long began = System.nanoTime();
      for (int i = 0; i < LOOKS; i++) {
        page.evaluate("at => location.hash = at", "#/" + PAGES.get(i % PAGES.size()));
        long until = began + (long) (minutes * 60e9 * (i + 1) / LOOKS);
        page.waitForTimeout(Math.max(1, (until - System.nanoTime()) / 1e6));
        page.evaluate(
            "location.hash = '#/'"); // Each look is at the same page, whichever was open before.
        page.waitForTimeout(1_500);
        looks.add(look(page, inspector, run, (System.nanoTime() - began) / 60e9));
        System.out.println(looks.getLast().line());
      }
      double kept = keptSteps(looks);
      grows(looks, "the browser's heap", Look::heapMb, 1 + kept * BROWSER_STEP_MB);
      grows(looks, "the page's nodes", Look::elements, 200);
      grows(looks, "the page's listeners", Look::listeners, 50);
      grows(looks, "the server's heap", Look::serverHeapMb, 4 + kept * SERVER_STEP_MB);
      grows(looks, "the server's threads", Look::serverThreads, 3);
      grows(looks, "the server's connections", Look::connections, 2);
    }
  }

  /** Steps that both sides keep more in the last third than in the middle one. */
  private static double keptSteps(List<Look> looks) {
    ToDoubleFunction<Look> kept = look -> Math.min(KEPT_STEPS, look.steps());
    return median(values(looks, kept, 2 * LOOKS / 3, LOOKS))
        - median(values(looks, kept, LOOKS / 3, 2 * LOOKS / 3));
  }

  private static void grows(
      List<Look> looks, String what, ToDoubleFunction<Look> of, double slack) {
    double[] middle = values(looks, of, LOOKS / 3, 2 * LOOKS / 3);
    double[] last = values(looks, of, 2 * LOOKS / 3, LOOKS);
    System.out.printf(Locale.ROOT, "%s: %.1f, then %.1f%n", what, median(middle), median(last));
    assertThat(median(last)).as(what).isLessThanOrEqualTo(median(middle) * GROWTH + slack);
  }

  private static double[] values(List<Look> looks, ToDoubleFunction<Look> of, int from, int to) {
    return looks.subList(from, to).stream().mapToDouble(of).toArray();
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static Look look(Page page, CDPSession inspector, ChildRun run, double minutes)
      throws IOException, InterruptedException {
    inspector.send("HeapProfiler.collectGarbage");
    JsonObject browser = inspector.send("Performance.getMetrics");
    List<?> counts =
        (List<?>)
            page.evaluate(
                "fetch('/api/v1/run').then(answer => answer.json())"
                    + ".then(run => [run.version, run.events])");
    long pid = run.pid();
    String histogram = jcmd(pid, "GC.class_histogram");
    return new Look(
        minutes,
        ((Number) counts.getFirst()).doubleValue(),
        ((Number) counts.getLast()).doubleValue(),
        metric(browser, "JSHeapUsedSize") / 1e6,
        metric(browser, "Nodes"),
        metric(browser, "JSEventListeners"),
        number(histogram, "(?m)^Total\\s+\\d+\\s+(\\d+)") / 1e6,
        number(Files.readString(Path.of("/proc/" + pid + "/status")), "Threads:\\s+(\\d+)"),
        instances(histogram, "sun.net.httpserver.HttpConnection "));
  }

  private static double metric(JsonObject answer, String name) {
    for (JsonElement one : answer.getAsJsonArray("metrics")) {
      if (one.getAsJsonObject().get("name").getAsString().equals(name)) {
        return one.getAsJsonObject().get("value").getAsDouble();
      }
    }
    throw new IllegalStateException("the browser does not tell " + name);
  }

  /** A histogram of live objects collects garbage first. */
  private static String jcmd(long pid, String command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(pid),
                command)
            .redirectErrorStream(true)
            .start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(Duration.ofMinutes(1))).as("jcmd ends").isTrue();
    return text;
  }

  private static double instances(String histogram, String type) {
    Matcher found =
        Pattern.compile(
                "(?m)^\\s*\\d+:\\s+(\\d+)\\s+\\d+\\s+" + Pattern.quote(type.trim()) + "[ (]")
            .matcher(histogram);
    return found.find() ? Double.parseDouble(found.group(1)) : 0;
  }

  private static double number(String text, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    assertThat(found.find()).as("%s in %s", pattern, text).isTrue();
    return Double.parseDouble(found.group(1));
  }
}
