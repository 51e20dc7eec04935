//! Starts mercury-lsp for Zed: the program from the settings or from PATH, with the settings of the section `lsp.mercury-lsp`.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, serde_json, LanguageServerId, Result};

const PROGRAM: &str = "mercury-lsp";

struct Mercury;

impl zed::Extension for Mercury {
    fn new() -> Self {
        Mercury
    }

    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &zed::Worktree) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree)?.binary;
        let (path, arguments) = binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path.or_else(|| worktree.which(PROGRAM)).ok_or_else(missing)?;
        Ok(zed::Command {
            command,
            args: arguments.unwrap_or_default(),
            env: worktree.shell_env(),
        })
    }

    fn language_server_initialization_options(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.initialization_options)
    }

    /// The server asks for its section by name.
    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| serde_json::json!({ "mercury": settings })))
    }
}

fn missing() -> String {
    format!("{PROGRAM} is not on PATH; install it, or set lsp.{PROGRAM}.binary.path")
}

zed::register_extension!(Mercury);
