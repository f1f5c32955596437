/** Kills, stops and resumes runs over and over, and audits their journals. */
@NullMarked
package io.troupe.soak;

import org.jspecify.annotations.NullMarked;
