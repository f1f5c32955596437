/** From YAML to records: a schema read off record components, and every violation with its line. */
@NullMarked
package io.troupe.app.config.binding;

import org.jspecify.annotations.NullMarked;
