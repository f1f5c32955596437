package io.troupe.console;

import io.troupe.console.http.ApiException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;

/** The files of the web page: one static bundle, the same for every run. */
final class PageAssets {
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml",
          "json", "application/json");

  /** A file with its media type. */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  record Asset(String type, byte[] bytes) {}

  private PageAssets() {}

  static Asset asset(String path) throws ApiException, IOException {
    String name = path.equals("/") ? "index.html" : path.substring(1);
    String ending = name.substring(name.lastIndexOf('.') + 1);
    // Only plain names exist, so no path can climb out of the bundle.
    if (!name.matches("[a-z]+(-[a-z]+)?\\.(html|js|css|svg|json)")) {
      throw new ApiException(404, "there is no such page");
    }
    try (InputStream in = PageAssets.class.getResourceAsStream("page/" + name)) {
      if (in == null) {
        throw new ApiException(404, "there is no such page");
      }
      return new Asset(TYPES.getOrDefault(ending, "text/plain"), in.readAllBytes());
    }
  }
}
