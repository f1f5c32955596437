package io.troupe.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.TimeoutError;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import io.troupe.cli.ops.SyntheticConsole;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.run.compose.TestRuns;
import io.troupe.run.console.FolderRun;
import io.troupe.run.simulation.ModelFile;
import io.troupe.run.simulation.RunFit;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.TrainModel;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The console in a browser, over a real run: every page, every verb, both widths. Pictures of the
 * pages are left in {@code target/console}.
 */
final class ConsolePagesTest {
  private static final double PATIENCE_MILLIS = 120_000;
  private static final Path PICTURES = Path.of("target", "console");
  private static final List<String> PAGES =
      List.of(
          "Loop",
          "Learning",
          "Groups",
          "Staleness",
          "Weights",
          "Nodes, actors",
          "Try",
          "Waits",
          "History",
          "Prediction",
          "Provenance");

  private static Playwright playwright;
  private static Browser browser;

  @TempDir private Path folder;
  private final List<String> errors = new ArrayList<>();

  @BeforeAll
  static void open() throws IOException {
    Files.createDirectories(PICTURES);
    PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
    playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setTimeout(PATIENCE_MILLIS)
                    .setExecutablePath(Path.of("/usr/bin/chromium"))
                    .setArgs(List.of("--no-sandbox")));
  }

  @AfterAll
  static void close() {
    playwright.close();
  }

  private Page page(BrowserContext context, String url) {
    context.setDefaultTimeout(PATIENCE_MILLIS);
    Page page = context.newPage();
    page.addInitScript(
        """
        window.shifted = [];
        new PerformanceObserver(list => list.getEntries().filter(one => !one.hadRecentInput)
            .forEach(one => window.shifted.push([location.hash, one.value, one.sources.map(at => (at.node?.className || at.node?.nodeName) + ' ' + at.previousRect.y + '>' + at.currentRect.y).join()])))
            .observe({type: 'layout-shift', buffered: true});
        window.toasts = [];
        addEventListener('DOMContentLoaded', () => new MutationObserver(all => all.forEach(one => one.addedNodes.forEach(text => toasts.push(text.textContent))))
            .observe(document.getElementById('toast'), {childList: true}));
        """);
    page.onPageError(errors::add);
    page.onConsoleMessage(
        message -> {
          if (message.type().equals("error")) {
            errors.add(message.text());
          }
        });
    page.onDialog(dialog -> errors.add("a text of the run opened a dialog: " + dialog.message()));
    page.navigate(url);
    assertThat(page.locator(".stage")).hasCount(6);
    return page;
  }

  private static BrowserContext context(int width) {
    return browser.newContext(
        new Browser.NewContextOptions().setViewportSize(width, width < 500 ? 844 : 800));
  }

  private static void visit(Page page, String title) {
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(title).setExact(true))
        .first()
        .click();
    Pattern heading = Pattern.compile("^" + (title.equals("Nodes, actors") ? "Nodes" : title));
    assertThat(page.locator("#page h1").first()).hasText(heading);
    assertThat(page.locator("#page[aria-busy]")).hasCount(0);
  }

  private static void picture(Page page, String name, int width) {
    assertThat(
            ((Number) page.evaluate("document.documentElement.scrollWidth - innerWidth"))
                .intValue())
        .as("%s is wider than %d px", name, width)
        .isLessThanOrEqualTo(0);
    page.screenshot(
        new Page.ScreenshotOptions().setPath(PICTURES.resolve(name + "-" + width + ".png")));
  }

  /**
   * Asserts that no part of the page moved by itself, by the measure of web vitals, of which 0.1 is
   * the end of good.
   */
  private static void nothingShifted(Page page) {
    Object moved =
        page.evaluate(
            "shifted.reduce((sum, one) => sum + one[1], 0) < 0.1 ? '' : JSON.stringify(shifted)");
    assertThat(moved).isEqualTo("");
  }

  private static void everyControlHasAName(Page page) {
    Object nameless =
        page.locator("button, a, input, select, textarea, [role=img]")
            .evaluateAll(
                "all => all.filter(e => !(e.getAttribute('aria-label') ||"
                    + " e.labels?.[0]?.textContent || e.textContent || e.title || '').trim())"
                    + ".map(e => e.outerHTML.slice(0, 200))");
    assertThat(nameless).isEqualTo(List.of());
  }

  private static void order(Page page, Locator button, String confirm) {
    page.evaluate("toasts.length = 0");
    button.click();
    Locator dialog = page.getByRole(AriaRole.DIALOG);
    dialog.getByLabel("Who asks").fill("ada");
    dialog.getByLabel("Why").fill("a test");
    dialog.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(confirm)).click();
    awaitTaken(page, confirm);
  }

  /** Awaits the message about this order: a toast vanishes, and an older one may still be seen. */
  private static void awaitTaken(Page page, String order) {
    try {
      page.waitForFunction("said => toasts.includes(said)", order + ": taken and journalled");
    } catch (TimeoutError late) {
      throw new AssertionError("%s; said was %s".formatted(order, page.evaluate("toasts")), late);
    }
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  /** Asks the policy by the keyboard alone. */
  private static Locator ask(Page page, String prompt) {
    Locator field = page.locator("#try-prompt");
    field.fill(prompt);
    field.press("Enter");
    return page.getByLabel("Question and answer").first();
  }

  private static void tryThePolicy(Page page) {
    visit(page, "Try");
    assertThat(page.locator("#try-prompt")).isFocused();
    assertThat(ask(page, "2+1="))
        .containsText(Pattern.compile("drawn by v\\d+ · \\d tokens? to a prompt of 4"));
    assertThat(ask(page, "<b>why?"))
        .containsText("this policy has the characters of its task alone, which are");
    assertThat(page.getByLabel("Question and answer")).hasCount(2);
    assertThat(page.locator(".said b")).hasCount(0);
    button(page, "A held-out prompt").click();
    assertThat(page.locator("#try-prompt")).hasValue(Pattern.compile("^\\d\\+\\d=$"));
    everyControlHasAName(page);
    picture(page, "try", 1280);
    button(page, "Dark or light").click();
    picture(page, "try-dark", 1280);
    page.setViewportSize(390, 844);
    picture(page, "try-dark", 390);
    button(page, "Dark or light").click();
    picture(page, "try", 390);
    page.setViewportSize(1280, 800);
  }

  /** The list of a batch, and a completion of it with its group's rewards and its text. */
  private static void explainAStep(Page page) {
    visit(page, "Provenance");
    page.getByLabel("Step", new Page.GetByLabelOptions().setExact(true)).fill("2");
    button(page, "Explain").click();
    Locator rows = page.getByLabel("Completions of the batch").locator("tbody tr");
    assertThat(rows).hasCount(3 * 8);
    rows.nth(9).getByRole(AriaRole.LINK).first().click();
    Locator life = page.getByLabel("One completion");
    assertThat(life).containsText("Step 2, row 9");
    assertThat(life).containsText("advantage");
    assertThat(life).containsText("group rewards");
    assertThat(life).containsText("--step 2 --row 9 --tokens");
    everyControlHasAName(page);
    picture(page, "explanation", 1280);
    page.setViewportSize(390, 844);
    picture(page, "explanation", 390);
    page.setViewportSize(1280, 800);
    page.getByLabel("Step", new Page.GetByLabelOptions().setExact(true)).fill("999999");
    button(page, "Explain").click();
    assertThat(page.getByLabel("Why completions counted")).containsText("has no step 999999");
  }

  /** A model that expects another pace: the numbers part, on the page and in the bar. */
  @Test
  void recordedRun_thatItsModelDoesNotExpect_raisesAnAlarm() throws Exception {
    Path yaml = Path.of(TestRuns.write(folder, TestRuns.TOY.replace("steps: 8", "steps: 60")));
    Path runs = folder.resolve("runs");
    assertThat(CommandOutput.by("train", yaml.toString(), "--set", "run.folder=" + runs).code())
        .isZero();
    RunFolder run = TestRuns.only(folder);
    LatencyModel fitted = RunFit.of(run).model();
    TrainModel slow = new TrainModel(30, 0, 0, 0, 0);
    ModelFile.write(
        run.model(),
        new LatencyModel(
            fitted.origin(),
            fitted.workload(),
            fitted.engine(),
            fitted.verification(),
            slow,
            fitted.publication(),
            fitted.failures(),
            fitted.control()));
    try (FolderRun source = FolderRun.open(run);
        ConsoleServer server = ConsoleServer.start(ConsoleSettings.loopback(0), source);
        BrowserContext context = context(1280)) {
      Page page = page(context, server.address().toString());
      assertThat(page.getByText("not as predicted")).hasCount(1);
      visit(page, "Prediction");
      assertThat(page.locator(".lead")).containsText("Alarm. steps/s: ");
      assertThat(page.getByLabel("Predicted and measured").first()).containsText("parts");
      picture(page, "alarm", 1280);
      page.setViewportSize(390, 844);
      picture(page, "alarm", 390);
      assertThat(errors).isEmpty();
    }
  }

  @Test
  void liveRun_everyPageAndVerb_work() throws Exception {
    String config =
        TestRuns.write(
            folder,
            TestRuns.TOY
                .replace("steps: 8", "steps: 1000000")
                .replace("token_delay: 1ms", "token_delay: 200ms"));
    try (ChildRun run = ChildRun.train(folder, ChildRun.Size.TOY, config, "console.port=0");
        BrowserContext wide = context(1280)) {
      String url = run.awaitConsole();
      run.awaitOut(3);
      Page page = page(wide, url);
      for (String title : PAGES) {
        visit(page, title);
        everyControlHasAName(page);
        picture(page, title.replaceAll("\\W.*", "").toLowerCase(Locale.ROOT), 1280);
      }
      nothingShifted(page);
      explainAStep(page);
      tryThePolicy(page);
      errors.removeIf(
          error -> error.contains("400 (Bad Request)") || error.contains("404 (Not Found)"));
      visit(page, "Loop");
      order(page, button(page, "Pause"), "Pause admission");
      assertThat(page.locator(".lead")).containsText("Admission is paused by ada");
      order(page, button(page, "Resume"), "Resume admission");
      order(page, button(page, "Checkpoint"), "Checkpoint now");
      visit(page, "Nodes, actors");
      order(page, button(page, "Restart").first(), "Restart worker");
      order(page, button(page, "Quarantine").first(), "Quarantine verifier");
      assertThat(button(page, "Release")).hasCount(1);
      order(page, button(page, "Release"), "Release verifier");
      page.evaluate("toasts.length = 0");
      button(page, "Limit concurrent groups").click();
      page.getByLabel("Most concurrent groups").fill("2");
      button(page, "Limit concurrent groups").last().click();
      awaitTaken(page, "Limit concurrent groups");
      button(page, "Thread dump").click();
      assertThat(page.getByLabel("Thread dump").locator("pre")).containsText("default-dispatcher");
      order(page, button(page, "Change the log level"), "Change the log level");
      button(page, "Flame graph").click();
      assertThat(page.getByLabel("Flame graph").locator(".frame").first())
          .containsText("all threads");
      picture(page, "flame", 1280);
      visit(page, "History");
      assertThat(page.locator("tbody")).containsText("ada: pause admission (a test)");
      assertThat(page.locator("tbody")).containsText("limit concurrent groups to 2");
      assertThat(page.locator("tbody")).containsText("ada: quarantine verifier numeric-1");
      order(page, button(page, "Drain").first(), "Drain the run");
      assertThat(run.awaitExit()).isZero();
      assertThat(page.locator("body")).hasClass(Pattern.compile("stale"));
      errors.removeIf(error -> error.contains("ERR_") || error.contains("Failed to fetch"));
      assertThat(errors).isEmpty();
    }
  }

  @Test
  void liveRun_whatTakesLong_isRequeuedCancelledAndStopped() throws Exception {
    String config =
        TestRuns.write(
            folder,
            TestRuns.TOY
                .replace("token_delay: 1ms", "token_delay: 60s")
                .replace("rollout:", "rollout:\n  lease_timeout: 1h"));
    try (ChildRun run = ChildRun.train(folder, ChildRun.Size.TOY, config, "console.port=0");
        BrowserContext wide = context(1280)) {
      String url = run.awaitConsole();
      Page page = page(wide, url);
      for (String verb : List.of("Requeue", "Cancel")) {
        page.navigate(url + "/#/groups?only=sampling");
        page.locator("tbody a").first().click();
        order(page, button(page, verb), verb + " group");
      }
      visit(page, "Try");
      // A draw could end at once: what the first weights of this seed hold most probable is a
      // digit.
      page.locator("#try-temperature").fill("0");
      Locator answer = ask(page, "0+0=");
      assertThat(answer).containsText("v0 is drawing…");
      button(page, "Stop").click();
      assertThat(answer).containsText("stopped; drawn by v0 so far");
      visit(page, "History");
      assertThat(page.locator("tbody")).containsText("ada: requeue g");
      assertThat(page.locator("tbody")).containsText("ada: cancel g");
      assertThat(errors).isEmpty();
    }
  }

  @Test
  void cluster_nodeAndWorker_areDrainedByAClick() throws Exception {
    try (var console = SyntheticConsole.open(folder, 300, true);
        BrowserContext context = context(1280)) {
      Page page = page(context, console.url());
      visit(page, "Nodes, actors");
      Locator node = page.getByLabel("Node node-03", new Page.GetByLabelOptions().setExact(true));
      order(page, drain(node).first(), "Drain node");
      node.locator("summary").click();
      order(page, drain(node.locator("tbody tr").filter(named("node-03/gpu-2"))), "Drain worker");
      assertThat(console.orders()).hasSize(2);
      assertThat(console.orders().getFirst()).contains("DrainNode", "node-03", "ada", "a test");
      assertThat(console.orders().getLast()).contains("DrainWorker", "node-03/gpu-2", "ada");
      assertThat(errors).isEmpty();
    }
  }

  private static Locator drain(Locator within) {
    return within.getByRole(
        AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Drain").setExact(true));
  }

  private static Locator.FilterOptions named(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }

  @Test
  void recordedRun_of16Nodes_isReadableAtBothWidthsAndRunsNothingOfItsTexts() throws Exception {
    try (var console = SyntheticConsole.open(folder, 10_000, false)) {
      for (int width : List.of(1280, 390)) {
        try (BrowserContext context = context(width)) {
          Page page = page(context, console.url());
          for (String title : PAGES) {
            visit(page, title);
            picture(page, "16x8-" + title.replaceAll("\\W.*", ""), width);
            if (title.equals("Try")) {
              assertThat(page.getByLabel("Not here")).containsText("troupe serve RUN");
            }
            if (title.equals("Weights")) {
              assertThat(page.getByLabel("Transfers")).containsText("16 nodes, 1 behind");
              assertThat(page.getByLabel("Transfers")).containsText("node-04 <b>closed</b>");
            }
            if (title.startsWith("Nodes")) {
              assertThat(page.locator(".gpu")).hasCount(128);
              assertThat(page.locator(".gpu[data-state=foreign]")).containsText("<b>");
            }
          }
          nothingShifted(page);
          page.navigate(console.url() + "/#/groups/" + console.hostileGroup());
          assertThat(page.locator(".completion")).hasCount(4);
          assertThat(page.locator(".completion").first())
              .containsText("<img src=x onerror=alert(1)>");
          assertThat(page.locator(".completion").first()).containsText("U+202E");
          assertThat(page.locator(".completion img, .completion script")).hasCount(0);
          assertThat(page.getByLabel("What the second bar of a completion shows").locator("li"))
              .hasCount(4);
          assertThat(page.locator(".completion .marks")).hasCount(3);
          assertThat(page.locator(".completion .marks").first())
              .hasAttribute(
                  "aria-label",
                  Pattern.compile(
                      "In step \\d+: 2 below the clip range \\(tokens 4–5\\) · 1 above the clip"
                          + " range \\(token 41\\)"));
          Locator turns = page.getByLabel("Turns of completion 4");
          assertThat(turns.locator("> li")).hasCount(2);
          assertThat(turns.locator(".tool-run")).containsText("<img src=x onerror=alert(1)>");
          assertThat(turns.locator(".tool-run"))
              .containsText(Pattern.compile("unknown tool · exit 1 · 13\\sms · arguments 2\\s048"));
          assertThat(turns.locator("> li").first())
              .containsText(
                  Pattern.compile("12 × v0 of loss weight 0 · 30 × v\\d+ of loss weight 1"));
          assertThat(turns.locator("> li").last())
              .containsText(Pattern.compile("observed: 7 tokens of loss weight 0"));
          picture(page, "16x8-hostile", width);
          turns.scrollIntoViewIfNeeded();
          picture(page, "16x8-turns", width);
        }
      }
      for (int width : List.of(1280, 390)) {
        try (BrowserContext dark =
            browser.newContext(
                new Browser.NewContextOptions()
                    .setViewportSize(width, 844)
                    .setColorScheme(ColorScheme.DARK))) {
          Page page = page(dark, console.url());
          for (String title : List.of("Loop", "Groups", "Nodes, actors", "Weights")) {
            visit(page, title);
            picture(page, "16x8-dark-" + title.replaceAll("\\W.*", ""), width);
          }
        }
      }
      assertThat(errors).isEmpty();
    }
  }
}
