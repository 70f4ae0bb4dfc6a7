//! `warpmp completions` and `warpmp man`: the command line for shells and for `man`.

use clap_mangen::Man;

use crate::{
    args::{self, Completions, ManPages},
    console,
    error::{Error, Result},
    io::output::Output,
};

/// Prints the completions of a shell.
pub(crate) fn completions(args: &Completions) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "warpmp", &mut text);
    console::print(&String::from_utf8_lossy(&text))
}

/// Prints the program's page, or writes the pages of all commands.
pub(crate) fn man(args: &ManPages) -> Result<()> {
    let mut command = args::command();
    // Commands get the names of their pages: warpmp-mul.
    command.build();
    let Some(folder) = &args.folder else {
        return console::print(&String::from_utf8_lossy(&page(&command)?));
    };
    std::fs::create_dir_all(folder).map_err(|source| Error::write(&folder.to_string_lossy(), source))?;
    write_pages(&command, folder)
}

fn page(command: &clap::Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text).map_err(|source| Error::write("a page", source))?;
    Ok(text)
}

fn write_pages(command: &clap::Command, folder: &std::path::Path) -> Result<()> {
    let name = command.get_display_name().unwrap_or("warpmp");
    Output::to(folder.join(format!("{name}.1")))?.write(&page(command)?)?;
    let own = command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set());
    own.into_iter().try_for_each(|command| write_pages(command, folder))
}
