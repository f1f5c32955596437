package io.troupe.environments.box;

import io.troupe.base.sandbox.SandboxSource;
import java.util.List;

/** A program of a container's image that carries out the orders of a session. */
enum SessionProgram {
  PYTHON {
    @Override
    List<String> command(String nonce) {
      String source = SandboxSource.of(BoxProcess.class, "box.py").text();
      return List.of("python3", "-c", source + DRIVER, nonce);
    }

    @Override
    String order(String nonce, int number, String text) {
      return "%d\0%s\0".formatted(number, text.replace("\0", ""));
    }
  },
  SHELL {
    @Override
    List<String> command(String nonce) {
      return List.of("sh", "-c", BASH_OR_SH);
    }

    // The shell reads its own program; a quote in an order is written as four characters.
    @Override
    String order(String nonce, int number, String text) {
      String quoted = text.replace("\0", "").replace("'", "'\\''");
      return "eval '%s' </dev/null\nprintf '\\n%s %d %%d\\n' \"$?\"\n"
          .formatted(quoted, nonce, number);
    }
  };

  private static final String BASH_OR_SH =
      "exec 2>&1; if command -v bash >/dev/null; then exec bash --norc --noprofile -s; fi; exec sh -s";

  /**
   * Leads the protocol of a session, whose orders and ends are files, over the standard streams.
   */
  private static final String DRIVER =
      """

      import threading
      orders, shown = os.dup(0), os.dup(1)
      ends, notes = os.pipe()
      os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
      os.dup2(1, 2)
      def lead(nonce):
          for end in open(ends, "rb"):
              os.write(shown, b"\\n%s %s" % (nonce, end))
      threading.Thread(target=lead, args=(sys.argv[1].encode(),), daemon=True).start()
      python(orders, notes)
      """;

  /** The program of a session's name. */
  static SessionProgram of(String session) {
    return session.equals("python") ? PYTHON : SHELL;
  }

  /** Returns its command line; each order ends by a line with the nonce. */
  abstract List<String> command(String nonce);

  /** Returns what the program reads as an order. */
  abstract String order(String nonce, int number, String text);
}
